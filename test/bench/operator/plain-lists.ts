import { startProgram } from "../child-program.ts";
import type { BenchWorld } from "./bench-world.ts";

/** What the reader is told. */
export interface ReaderOptions {
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  /** With their queries. */
  readonly paths: readonly string[];
}

/** What the reader says. */
export interface ReadLists {
  /** By the machine's clock. */
  readonly doneAtMs: number;
  /** On all its threads, since its start. */
  readonly cpuSeconds: number;
  readonly bytes: number;
  readonly objects: number;
}

const DEADLINE_MS = 300_000;

/** Reads lists in a process of its own; answers what that took from the start of the process on. */
async function readLists(options: ReaderOptions): Promise<ReadLists & { readonly seconds: number }> {
  const program = startProgram<ReadLists>(new URL("list-reader.ts", import.meta.url), { argument: options });
  try {
    const read = await program.ask("read", DEADLINE_MS);
    return { ...read, seconds: (read.doneAtMs - program.startedAtMs) / 1000 };
  } finally {
    await program.stop();
  }
}

/** The same with the identity of the operator. */
export function readListsOf({ world }: BenchWorld, paths: readonly string[]): ReturnType<typeof readLists> {
  const { url, caFile } = world.plane;
  return readLists({ url, caFile, token: world.identity.token, paths });
}
