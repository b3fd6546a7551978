import { PassThrough } from "node:stream";
import { expect, test } from "@jest/globals";
import { KubeError } from "../../../../operator/kit/client/errors.ts";
import { type Log, winstonLog, withLogFacts } from "../../../../operator/kit/log.ts";

function linesOf(write: (log: Log) => void): Record<string, unknown>[] {
  const stream = new PassThrough();
  write(winstonLog({ level: "info", stream }));
  const text = stream.read()?.toString() ?? "";
  return text
    .trimEnd()
    .split("\n")
    .map((line: string) => JSON.parse(line));
}

test("a line has time, level and message, and facts as keys", () => {
  const [line] = linesOf((log) => log.with({ environment: "shop" }).warn("a pass failed", { failures: 2 }));
  expect(line).toMatchObject({ level: "warn", message: "a pass failed", environment: "shop", failures: 2 });
  expect(new Date(String(line?.time)).getTime()).not.toBeNaN();
});

test("lines that are written for a piece of work carry its facts, also later and by another log", async () => {
  const stream = new PassThrough();
  const log = winstonLog({ level: "info", stream });
  await withLogFacts({ requestId: "one" }, async () => {
    await Promise.resolve();
    withLogFacts({ reconcileId: "two" }, () => log.with({ host: "git" }).info("inner"));
    log.info("outer");
  });
  log.info("apart");
  const lines = String(stream.read()).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line)).map(({ time: _, level: __, ...facts }) => facts)).toEqual([
    { message: "inner", requestId: "one", reconcileId: "two", host: "git" },
    { message: "outer", requestId: "one" },
    { message: "apart" },
  ]);
});

test("the level can change while the log is used", () => {
  const stream = new PassThrough();
  const log = winstonLog({ level: "error", stream });
  const child = log.with({ host: "git" });
  child.info("before");
  log.level = "info";
  child.info("after");
  expect(String(stream.read())).toMatch(/^\{.*"message":"after"\}\n$/);
});

test("facts can't take the place of time, level or message", () => {
  const [line] = linesOf((log) => log.info("true", { message: "forged", level: "error", line: "forged" }));
  expect(line).toMatchObject({ message: "true", level: "info", line: "forged" });
});

test("what hides itself stays hidden", () => {
  const secret = { toJSON: () => "***", value: "hunter2" };
  const [line] = linesOf((log) => log.info("made", { secret, nested: { secret } }));
  expect(line).toMatchObject({ secret: "***", nested: { secret: "***" } });
});

test("an API error shows its status and reason, never the server's sentence", () => {
  const error = new KubeError({ status: 422, reason: "Invalid", detail: "hunter2", causes: [{ message: "hunter2" }] });
  const [line] = linesOf((log) => log.warn("refused", { error, wrapped: new Error("outer", { cause: error }) }));
  expect(line?.error).toEqual({ status: 422, reason: "Invalid" });
  expect(line?.wrapped).toMatchObject({ message: "outer", cause: { status: 422, reason: "Invalid" } });
  expect(JSON.stringify(line)).not.toContain("hunter2");
});

test("a fact that can't be printed costs the facts, not the line", () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const [line] = linesOf((log) => log.info("still here", { cycle }));
  expect(line).toMatchObject({ message: "still here", facts: "unprintable" });
});

test("levels below the wanted one are left out", () => {
  expect(
    linesOf((log) => {
      log.debug("no");
      log.info("yes");
    }),
  ).toMatchObject([{ message: "yes" }]);
});
