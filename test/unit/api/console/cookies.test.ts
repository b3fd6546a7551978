import { describe, expect, test } from "@jest/globals";
import type { Request, Response } from "express";
import { type CookieSpec, dropCookie, keepCookie, readCookie } from "../../../../api/console/cookies.ts";

const SPEC: CookieSpec = { name: "__Host-c", sameSite: "Strict" };

function exchanges() {
  const kept = new Map<string, string>();
  const lines: string[] = [];
  return {
    kept,
    lines,
    next() {
      const cookie = [...kept].map((pair) => pair.join("=")).join("; ");
      const append = (_name: string, line: string) => {
        lines.push(line);
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (line.endsWith("Max-Age=0")) kept.delete(name);
        else kept.set(name, value);
      };
      return { request: { headers: { cookie } } as Request, response: { append } as unknown as Response };
    },
  };
}

describe("a cookie", () => {
  test.each([
    [1, 1],
    [3_800, 1],
    [3_801, 2],
    [7_601, 3],
    [11_400, 3],
  ])("of %d characters comes in %d parts that browsers keep", (length, parts) => {
    const browser = exchanges();
    const value = Array.from({ length }, (_, at) => String.fromCharCode(97 + (at % 26))).join("");
    expect(keepCookie(browser.next(), SPEC, value, 60)).toBe(true);
    expect(browser.lines).toHaveLength(parts);
    for (const line of browser.lines) {
      expect(line.length).toBeLessThanOrEqual(4_096);
      expect(line).toMatch(/^__Host-c(-\d)?=[^;]+; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=60$/);
    }
    expect(readCookie(browser.next().request, SPEC)).toBe(value);
  });

  test("that is too long is not kept, and leaves the former one as it is", () => {
    const browser = exchanges();
    keepCookie(browser.next(), SPEC, "former", 60);
    expect(keepCookie(browser.next(), SPEC, "x".repeat(11_401), 60)).toBe(false);
    expect(readCookie(browser.next().request, SPEC)).toBe("former");
  });

  test("replaces a longer one wholly, and is dropped with all its parts", () => {
    const browser = exchanges();
    keepCookie(browser.next(), SPEC, "x".repeat(9_000), 60);
    keepCookie(browser.next(), SPEC, "short", 60);
    expect([...browser.kept]).toEqual([["__Host-c", "short"]]);
    keepCookie(browser.next(), SPEC, "x".repeat(9_000), 60);
    dropCookie(browser.next(), SPEC);
    expect([...browser.kept]).toEqual([]);
  });

  test.each([
    ["nothing", undefined, ""],
    ["another", "a=b", ""],
    ["one whose name begins alike", "__Host-c-x=b; __Host-cc=d", ""],
    ["a second of the name", "__Host-c=first; __Host-c=second", "first"],
    ["later parts alone", "__Host-c-1=b", ""],
    ["signs of equality", "__Host-c=a=b==", "a=b=="],
    ["what is no pair", ";; =; __Host-c", ""],
  ])("is read beside %s", (_what, cookie, value) => {
    expect(readCookie({ headers: { cookie } } as Request, SPEC)).toBe(value);
  });
});
