import { format, inspect } from "node:util";
import { expect, test } from "@jest/globals";
import { Sensitive } from "../../../crds/sensitive.ts";

const VALUE = "hunter2-hunter2";
const secret = new Sensitive(VALUE);

test.each([
  ["as text", () => `${secret}`],
  ["concatenated", () => `a${String(secret)}`],
  ["as JSON", () => JSON.stringify({ list: [secret], map: { secret } })],
  ["inspected", () => inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
  ["formatted", () => format("%s %o %j", secret, secret, secret)],
  ["spread", () => JSON.stringify({ ...secret }) + inspect({ ...secret })],
  ["cloned", () => inspect(structuredClone(secret))],
  ["in an error", () => inspect(new Error("refused", { cause: secret }))],
  ["by its keys", () => inspect(Object.getOwnPropertyNames(secret).concat(Object.keys(secret)))],
])("a sensitive value does not show %s", (_how, shown) => {
  expect(shown()).not.toContain(VALUE);
});

test("only reveal gives it", () => {
  expect(secret.reveal()).toBe(VALUE);
});
