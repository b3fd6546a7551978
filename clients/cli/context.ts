import type { CommandContext, StricliProcess } from "@stricli/core";
import { type Client, createClient } from "../sdk/index.ts";
import { type Accounts, accountsOf } from "./auth/accounts.ts";
import { EXIT, Failure } from "./failure.ts";
import { plain } from "./output/plain.ts";

/** Process as commands see it: only data goes to stdout. */
export type CommandProcess = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env"> & StricliProcess;

/** Context of every command. */
export interface Context extends CommandContext {
  readonly process: CommandProcess;
  readonly accounts: Accounts;
  /** Aborts with SIGINT. */
  readonly interrupted: AbortSignal;
  /** Client of the platform. @throws Failure (misuse) without an address */
  client(options?: { readonly attempts?: number }): Client;
  /** Writes a line to stderr, without terminal sequences. */
  say(line: string): void;
}

/** Context of a process. */
export function contextOf(process: CommandProcess): Context {
  const interrupted = new AbortController();
  const say = (line: string) => void process.stderr.write(`${plain(line)}\n`);
  const accounts = accountsOf(process.env, say);
  onInterrupt(() => interrupted.abort(new Failure(EXIT.interrupted, "interrupted")));
  return {
    process,
    accounts,
    interrupted: interrupted.signal,
    say,
    client: ({ attempts = 4 } = {}) =>
      createClient({
        url: accounts.url(),
        token: () => accounts.token(),
        fetch: (request) => fetch(request, { signal: AbortSignal.any([request.signal, interrupted.signal]) }),
        retries: { attempts },
      }),
  };
}

/** Time after the first SIGINT until the process ends. */
const PATIENCE_MS = 1_000;

function onInterrupt(abort: () => void): void {
  process.once("SIGINT", () => {
    abort();
    setTimeout(() => process.exit(EXIT.interrupted), PATIENCE_MS).unref();
    process.once("SIGINT", () => process.exit(EXIT.interrupted));
  });
}
