import { describe, expect, test } from "@jest/globals";
import { toLogEntry } from "../../../../../api/environments/logs/views.ts";

const at = "2026-06-01T12:00:00.123456789Z";
const written = "2026-06-01T12:00:00.123Z";
const entry = (text: string) => toLogEntry({ at, text });

describe("a line of JSON", () => {
  const cases: readonly { name: string; given: object; expected: object }[] = [
    {
      name: "as pino writes it",
      given: { level: 50, time: 1780315200000, pid: 1, msg: "m" },
      expected: { level: "ERROR", message: "m", timestamp: "2026-06-01T12:00:00.000Z" },
    },
    {
      name: "as winston writes it",
      given: { level: "warn", message: "m", timestamp: "2026-06-01T11:00:00.5Z" },
      expected: { level: "WARN", message: "m", timestamp: "2026-06-01T11:00:00.500Z" },
    },
    {
      name: "as zap writes it",
      given: { level: "dpanic", ts: 1780315200.25, msg: "m" },
      expected: { level: "FATAL", timestamp: "2026-06-01T12:00:00.250Z" },
    },
    {
      name: "as logrus writes it",
      given: { level: "warning", time: "2026-06-01T14:00:00+02:00", msg: "m" },
      expected: { level: "WARN", timestamp: "2026-06-01T12:00:00.000Z" },
    },
    {
      name: "as Logstash writes it",
      given: { "@timestamp": "2026-06-01T12:00:00.5Z", level: "INFO", message: "m" },
      expected: { timestamp: "2026-06-01T12:00:00.500Z" },
    },
    {
      name: "as Google's clients write it",
      given: { severity: "CRITICAL", message: "m" },
      expected: { level: "FATAL", message: "m", timestamp: written },
    },
    {
      name: "as Bunyan writes it",
      given: { level: 30, time: "2026-06-01T12:00:00.000Z", msg: "m", v: 0 },
      expected: { level: "INFO" },
    },
    { name: "with lvl", given: { lvl: "dbug", msg: "m" }, expected: { level: "INFO" } },
    {
      name: "with microseconds",
      given: { ts: 1780315200000001, msg: "m" },
      expected: { timestamp: "2026-06-01T12:00:00.000Z" },
    },
    {
      name: "with nanoseconds",
      given: { ts: 1780315200000000000, msg: "m" },
      expected: { timestamp: "2026-06-01T12:00:00.000Z" },
    },
    {
      name: "with a time without a zone, which is UTC",
      given: { time: "2026-06-01 12:00:00", msg: "m" },
      expected: { timestamp: "2026-06-01T12:00:00.000Z" },
    },
    { name: "with a time that is none", given: { time: "12:00", msg: "m" }, expected: { timestamp: written } },
    {
      name: "with a time beyond all years",
      given: { time: "2026-99-01T12:00:00Z", ts: 5, msg: "m" },
      expected: { timestamp: written },
    },
    { name: "with a level that is unknown", given: { level: "loud", msg: "m" }, expected: { level: "INFO" } },
    { name: "with an empty message", given: { level: "info", msg: "" }, expected: { message: "" } },
  ];
  test.each(cases)("$name", ({ given, expected }) => {
    expect(entry(JSON.stringify(given))).toMatchObject(expected);
  });

  test.each<[string, object, string]>([
    ["slog", { msg: "ended", error: "no route" }, "ended: no route"],
    ["zap", { msg: "ended", error: "no route", stacktrace: "main.go:1" }, "ended: no route"],
    [
      "pino",
      { msg: "ended", err: { message: "no route", stack: "Error: no route\n  at a.js" } },
      "ended: Error: no route\n  at a.js",
    ],
    ["winston", { message: "no route", stack: "Error: no route\n  at a.js" }, "no route: Error: no route\n  at a.js"],
    ["a logger that says it already", { msg: "ended: no route", err: { message: "no route" } }, "ended: no route"],
    ["a logger that has none", { msg: "fine", error: null, err: {}, stack: "" }, "fine"],
    ["a logger with numbers", { msg: "ended", error: 7 }, "ended"],
  ])("with an error beside the message, as %s writes it, has both", (_logger, given, expected) => {
    expect(entry(JSON.stringify(given)).message).toBe(expected);
  });

  test.each([
    { name: "without a message", text: '{"level":"error","err":{"code":1}}', level: "ERROR" },
    { name: "whose message is no text", text: '{"level":"error","msg":{"a":1}}', level: "ERROR" },
    { name: "that was cut off", text: '{"level":"error","msg":"a', level: "ERROR" },
    { name: "that is a list", text: '["level","error"]', level: "INFO" },
    { name: "that is a number", text: "42", level: "INFO" },
  ])("$name is shown whole", ({ text, level }) => {
    expect(entry(text)).toEqual({ timestamp: written, level, message: text });
  });
});

describe("a plain line", () => {
  test.each([
    ["listening on 8080", "INFO"],
    ["", "INFO"],
    ["2026-06-01 12:00:00 ERROR no database", "ERROR"],
    ["[warn] slow query", "WARN"],
    ["2026/06/01 12:00:00 [error] 7#7: *1 connect() failed", "ERROR"],
    ["time=2026-06-01 level=warning msg=late", "WARN"],
    ["warning: deprecated", "WARN"],
    ["LOG:  database system is ready", "INFO"],
    ["2026-06-01 12:00:00.000 UTC [1] FATAL:  the database is starting", "FATAL"],
    ["DEBUG 7 --- [main] c.e.Shop : started", "DEBUG"],
    ["0 errors, no warning", "INFO"],
    ["the error was ignored", "INFO"],
    [`${"x".repeat(101)} ERROR`, "INFO"],
  ])("%j has the level %s and is the message", (text, level) => {
    expect(entry(text)).toEqual({ timestamp: written, level, message: text });
  });
});
