import { startProgram } from "./child-program.ts";
import type { Delays } from "./event-loop.ts";

/** An idle process beside the measured one: see `idle-server.ts`. */
export interface IdleServer {
  readonly url: string;
  restartDelays(): Promise<void>;
  /** Delays of its event loop since the last restart. */
  delays(): Promise<Delays>;
  stop(): Promise<void>;
}

/** @param bytes of each answer; the query `?bytes=` overrides it */
export async function startIdleServer(bytes = 0): Promise<IdleServer> {
  const program = startProgram<unknown>(new URL("idle-server.ts", import.meta.url), { argument: bytes });
  return {
    url: (await program.ask("url")) as string,
    restartDelays: async () => void (await program.ask("restart of the delays")),
    delays: () => program.ask("delays") as Promise<Delays>,
    stop: () => program.stop(),
  };
}
