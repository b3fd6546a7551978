import { readlink } from "node:fs/promises";
import { resolve } from "node:path";
import { run } from "./command.ts";

/** Something that other processes of this machine can talk to. */
export interface Listener {
  readonly kind: "tcp" | "udp" | "unix";
  /** `127.0.0.1:8080`, the path of a socket, or, with a leading `@`, a name that is no file. */
  readonly at: string;
  readonly pid: number;
}

const DEADLINE_MS = 20_000;
const flags = { tcp: "--tcp", udp: "--udp", unix: "--unix" } as const;

/** All listeners of this machine whose processes the asker may look into; root may look into all. */
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
  const pid = Number(/pid=(\d+)/.exec(line)?.[1]);
  if (kind !== "unix" || /^[/@]/.test(at)) return { kind, at, pid };
  // A path stands there as the program gave it: from where it works.
  return { kind, at: resolve(await readlink(`/proc/${pid}/cwd`), at), pid };
}
