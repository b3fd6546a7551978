import { PassThrough } from "node:stream";
import { expect, test } from "@jest/globals";
import type { Context } from "../../../../../clients/cli/context.ts";
import { EXIT } from "../../../../../clients/cli/failure.ts";
import { confirm } from "../../../../../clients/cli/input/confirm.ts";

/** Asks on a terminal in raw mode, on which a person types these keys. */
async function typed(keys: string): Promise<unknown> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const process = { stdin, stderr } as unknown as Context["process"];
  const context = { process, interrupted: new AbortController().signal } as Context;
  const question = confirm(context, "Delete shop?", { yes: false, input: true });
  stdin.write(keys);
  return question.then(
    () => "confirmed",
    (error: unknown) => error,
  );
}

test.each(["y", "Y", "yes"])("'%s' is a yes", async (answer) => {
  expect(await typed(`${answer}\r`)).toBe("confirmed");
});

test.each([
  ["another answer", "n\r", EXIT.refused, "nothing was done"],
  ["no answer", "\r", EXIT.refused, "nothing was done"],
  ["Ctrl-D", "\u0004", EXIT.refused, "nothing was done"],
  ["Ctrl-C", "\u0003", EXIT.interrupted, "interrupted"],
])("%s is none", async (_, keys, exitCode, message) => {
  expect(await typed(keys)).toMatchObject({ name: "Failure", exitCode, message });
});
