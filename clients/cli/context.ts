import type { CommandContext, StricliProcess } from "@stricli/core";
import { type Client, createClient } from "../sdk/index.ts";
import { type Accounts, accountsOf } from "./auth/accounts.ts";
import { EXIT, Failure } from "./failure.ts";
import { plain } from "./output/plain.ts";

/** What commands have of the process: data goes to stdout, all else to stderr. */
export type CommandProcess = Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env"> & StricliProcess;

/** What every command runs with. */
export interface Context extends CommandContext {
  readonly process: CommandProcess;
  /** Which platform is spoken to, and as whom. */
  readonly accounts: Accounts;
  /** Aborts with SIGINT. */
  readonly interrupted: AbortSignal;
  /** The platform. @throws Failure (misuse) when nothing says where it is */
  client(options?: { readonly attempts?: number }): Client;
  /** Writes a line to stderr, without what a terminal would obey. */
  say(line: string): void;
}

/** The context of a process. */
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

/** What is not over a moment after the first SIGINT ends without being asked. */
const PATIENCE_MS = 1_000;

function onInterrupt(abort: () => void): void {
  process.once("SIGINT", () => {
    abort();
    setTimeout(() => process.exit(EXIT.interrupted), PATIENCE_MS).unref();
    process.once("SIGINT", () => process.exit(EXIT.interrupted));
  });
}
