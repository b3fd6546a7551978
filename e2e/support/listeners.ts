import { readlink } from "node:fs/promises";
import { resolve } from "node:path";
import { run } from "./command.ts";
import { parentOf } from "./proc.ts";

/** A listener for other processes of this machine. */
export interface Listener {
  readonly kind: "tcp" | "udp" | "unix";
  /** `127.0.0.1:8080`, the path of a socket, or, with a leading `@`, an abstract name. */
  readonly at: string;
  /** The process that opened it, without children that inherited it. */
  readonly pid: number;
}

const DEADLINE_MS = 20_000;
const flags = { tcp: "--tcp", udp: "--udp", unix: "--unix" } as const;

/** Listeners of this machine whose processes the caller may inspect; root may inspect all. */
export async function listeners(): Promise<readonly Listener[]> {
  const kinds = ["tcp", "udp", "unix"] as const;
  return (await Promise.all(kinds.map(listenersOf))).flat();
}

async function listenersOf(kind: Listener["kind"]): Promise<readonly Listener[]> {
  const args = ["--no-header", "--listening", "--numeric", "--processes", flags[kind]];
  const { code, stdout, stderr } = await run("ss", { args, deadlineMs: DEADLINE_MS });
  if (code !== 0) throw new Error(`ss ended with ${code}: ${stderr}`);
  const lines = stdout.split("\n").filter((line) => line.includes("pid="));
  return Promise.all(lines.map((line) => listener(kind, line)));
}

/** ss(8) writes type (of Unix sockets alone), state, two queues, the address and its processes. */
async function listener(kind: Listener["kind"], line: string): Promise<Listener> {
  const at = line.trim().split(/\s+/)[kind === "unix" ? 4 : 3] ?? "";
  const pid = await opener(Array.from(line.matchAll(/pid=(\d+)/g), ([, pid]) => Number(pid)));
  if (kind !== "unix" || /^[/@]/.test(at)) return { kind, at, pid };
  // A path is relative to the program's working folder.
  return { kind, at: resolve(await readlink(`/proc/${pid}/cwd`), at), pid };
}

/**
 * The holder of a socket whose parent is no holder. A holder that has ended has no parent, and is ignored beside another
 * one.
 */
export async function opener(holders: readonly number[]): Promise<number> {
  const parents = await Promise.all(holders.map(parentOf));
  const isOpener = (parent: number | undefined) => parent !== undefined && !holders.includes(parent);
  const pid = holders.find((_, index) => isOpener(parents[index])) ?? holders[0];
  if (pid === undefined) throw new Error("a socket without a process");
  return pid;
}
