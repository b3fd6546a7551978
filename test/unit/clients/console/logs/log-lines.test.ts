import { describe, expect, test } from "@jest/globals";
import { asText, isAtEnd, KEPT, matching, NO_LINES, withLines } from "../../../../../clients/console/logs/log-lines.ts";

const entry = (message: string, level = "INFO") => ({ timestamp: "2026-06-01T12:00:00.000Z", level, message });
const entries = (count: number) => Array.from({ length: count }, (_, index) => entry(`line ${index}`));

describe("the lines of a log", () => {
  test("are the newest two thousand, each with a number of its own for ever", () => {
    const lines = withLines(withLines(NO_LINES, entries(KEPT)), entries(5));
    expect(lines.total).toBe(KEPT + 5);
    expect(lines.kept).toHaveLength(KEPT);
    expect(lines.kept[0]).toMatchObject({ number: 5, message: "line 5" });
    expect(lines.kept.at(-1)).toMatchObject({ number: KEPT + 4, message: "line 4" });
  });

  test("are narrowed by any part of a line, in any case", () => {
    const { kept } = withLines(NO_LINES, [entry("GET /Cart"), entry("order refused", "ERROR"), entry("other")]);
    expect(matching(kept, "cart").map(({ message }) => message)).toEqual(["GET /Cart"]);
    expect(matching(kept, " error ").map(({ message }) => message)).toEqual(["order refused"]);
    expect(matching(kept, "  ")).toBe(kept);
  });

  test("are a file with one line each", () => {
    const { kept } = withLines(NO_LINES, [entry("one"), entry("two", "WARN")]);
    expect(asText(kept)).toBe("2026-06-01T12:00:00.000Z INFO one\n2026-06-01T12:00:00.000Z WARN two\n");
  });
});

test.each([
  ["at the very end", 800, true],
  ["a part of a line above it", 780, true],
  ["a few lines above it", 700, false],
])("who is %s follows it: %d", (_where, scrollTop, isFollowing) => {
  expect(isAtEnd({ scrollTop, clientHeight: 200, scrollHeight: 1000 })).toBe(isFollowing);
});
