import { describe, expect, test } from "@jest/globals";
import {
  agoText,
  amountText,
  clockText,
  countText,
  durationText,
  moneyText,
  shareText,
  untilText,
} from "../../../../../clients/console/parts/words.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const NOW = Date.parse("2026-06-01T12:00:00Z");
const at = (fromNowMs: number) => new Date(NOW + fromNowMs).toISOString();

describe("a duration", () => {
  test.each([
    [-5, "under 0.1 s"],
    [320, "0.3 s"],
    [9_940, "9.9 s"],
    [59_999, "59 s"],
    [60_000, "1 min"],
    [200_000, "3 min 20 s"],
    [HOUR, "1 h"],
    [5 * HOUR + 600_000, "5 h 10 min"],
    [52 * HOUR, "2 d 4 h"],
    [48 * HOUR + 59_000, "2 d"],
  ])("of %d ms is '%s'", (ms, words) => {
    expect(durationText(ms)).toBe(words);
  });
});

test.each([
  [-1, "now"],
  [0, "now"],
  [59_000, "in under 1 min"],
  [HOUR, "in 1 h"],
])("what is due in %d ms is due %s", (ms, words) => {
  expect(untilText(at(ms), NOW)).toBe(words);
});

test.each([
  [0, "just now"],
  [-5_000, "just now"],
  [60_000, "1 min ago"],
  [23 * HOUR, "23 h ago"],
  [49 * HOUR, "2 d ago"],
])("what was %d ms ago was %s", (ms, words) => {
  expect(agoText(at(-ms), NOW)).toBe(words);
});

test("the time of a line is the reader's own, to the millisecond", () => {
  const instant = "2026-06-01T00:03:09.025Z";
  const hours = String(new Date(instant).getHours()).padStart(2, "0");
  expect(clockText(instant)).toMatch(new RegExp(`^${hours}:[0-5]\\d:09\\.025$`));
});

describe("a number", () => {
  test("that the platform does not know is no zero", () => {
    expect([moneyText(null, "EUR"), shareText(null), amountText(null, "h")]).toEqual(["unknown", "unknown", "unknown"]);
  });

  test("of cents' fractions is not rounded to nothing", () => {
    expect(moneyText(0.0004, "EUR")).toMatch(/^under .*0[.,]01/);
    expect(moneyText(0, "EUR")).toMatch(/0[.,]00(?!\d)/);
  });

  test("just below all is not shown as all", () => {
    expect(shareText(0.9996)).not.toMatch(/100/);
    expect(shareText(1)).toMatch(/100/);
  });

  test("stands beside its noun", () => {
    expect([countText(0, "environment"), countText(1, "environment")]).toEqual(["0 environments", "1 environment"]);
  });
});
