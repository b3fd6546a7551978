import { startProgram } from "../child-program.ts";

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
export async function readLists(options: ReaderOptions): Promise<ReadLists & { readonly seconds: number }> {
  const program = startProgram<ReadLists>(new URL("list-reader.ts", import.meta.url), { argument: options });
  try {
    const read = await program.ask("read", DEADLINE_MS);
    return { ...read, seconds: (read.doneAtMs - program.startedAtMs) / 1000 };
  } finally {
    await program.stop();
  }
}
