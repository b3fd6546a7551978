import { expect, test } from "@jest/globals";
import { instantMs, isInstant } from "../../../../api/schemas/instant.ts";

test.each([
  ["2026-06-01", "2026-06-01T00:00:00.000Z"],
  ["2026-06-01T12:00", "2026-06-01T12:00:00.000Z"],
  ["2026-06-01T12:00:00", "2026-06-01T12:00:00.000Z"],
  ["2026-06-01T12:00:00.123456", "2026-06-01T12:00:00.123Z"],
  ["2026-06-01T12:00:00Z", "2026-06-01T12:00:00.000Z"],
  ["2026-06-01T12:00:00+02:00", "2026-06-01T10:00:00.000Z"],
  ["2026-06-01 12:00:00", "2026-06-01T12:00:00.000Z"],
])("%s is %s", (text, expected) => {
  expect(new Date(instantMs(text)).toISOString()).toBe(expected);
});

test.each(["", "now", "2026", "2026-13-01", "2026-06-01T25:00:00Z", "1e9", "1780000000", "2026-06-01T12:00:00X"])(
  "%j names no moment",
  (text) => expect(isInstant(text)).toBe(false),
);
