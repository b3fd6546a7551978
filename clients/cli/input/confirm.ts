import type { Context } from "../context.ts";
import { EXIT, Failure, misuse } from "../failure.ts";

/** Flags that skip or forbid the question. */
export interface ConfirmFlags {
  readonly yes: boolean;
  readonly input: boolean;
}

/** Flags of commands that destroy something. */
export const confirmFlags = {
  yes: { kind: "boolean", brief: "Do not ask", default: false, withNegated: false },
  input: { kind: "boolean", brief: "Ask on the terminal; without one nothing is asked", default: true },
} as const;

/** Asks before something is destroyed. @throws Failure (misuse) without a terminal; (refused) for another answer or Ctrl-D; (interrupted) for Ctrl-C */
export async function confirm(context: Context, question: string, { yes, input }: ConfirmFlags): Promise<void> {
  if (yes) return;
  const { stdin, stderr } = context.process;
  if (!input || !stdin.isTTY) throw misuse(`${question} There is no terminal to ask on: --yes says so.`);
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: stdin, output: stderr });
  const ended = new AbortController();
  // In raw mode, Ctrl-C is a key and no signal.
  terminal.once("SIGINT", () => ended.abort(new Failure(EXIT.interrupted, "interrupted")));
  terminal.once("close", () => ended.abort(new Failure(EXIT.refused, "nothing was done")));
  const signal = AbortSignal.any([context.interrupted, ended.signal]);
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
    if (!/^y(es)?$/i.test(answer.trim())) throw new Failure(EXIT.refused, "nothing was done");
  } finally {
    terminal.close();
  }
}
