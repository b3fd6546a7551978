import { startProgram } from "../child-program.ts";
import type { BenchWorld } from "./bench-world.ts";

export interface ReaderOptions {
  readonly url: string;
  readonly caFile: string;
  readonly token: string;
  /** Paths with their queries. */
  readonly paths: readonly string[];
}

export interface ReadLists {
  /** End by the machine's clock. */
  readonly doneAtMs: number;
  /** Processor time of all its threads, since its start. */
  readonly cpuSeconds: number;
  readonly bytes: number;
  readonly objects: number;
}

const DEADLINE_MS = 300_000;

/** Reads lists in a separate process; answers the costs since its start. */
async function readLists(options: ReaderOptions): Promise<ReadLists & { readonly seconds: number }> {
  const program = startProgram<ReadLists>(new URL("list-reader.ts", import.meta.url), { argument: options });
  try {
    const read = await program.ask("read", DEADLINE_MS);
    return { ...read, seconds: (read.doneAtMs - program.startedAtMs) / 1000 };
  } finally {
    await program.stop();
  }
}

/** Reads lists with the operator's identity. */
export function readListsOf({ world }: BenchWorld, paths: readonly string[]): ReturnType<typeof readLists> {
  const { url, caFile } = world.plane;
  return readLists({ url, caFile, token: world.identity.token, paths });
}
