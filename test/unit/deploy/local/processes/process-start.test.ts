import { describe, expect, test } from "@jest/globals";
import { parsePsStart, parseStart } from "../../../../../deploy/local/processes/process-start.ts";

describe("the start of a process", () => {
  test.each([
    { name: "reads field 22", stat: stat("(etcd)", "S"), expected: "4711" },
    { name: "is not misled by a name with parentheses and blanks", stat: stat("(a) b (c)", "R"), expected: "4711" },
    { name: "takes a zombie for ended", stat: stat("(etcd)", "Z"), expected: undefined },
    { name: "waits for the last thread of one", stat: stat("(etcd)", "Z", 2), expected: "4711" },
  ])("in /proc $name", ({ stat: line, expected }) => {
    expect(parseStart(line)).toBe(expected);
  });

  test.each([
    { name: "reads the columns", line: "Ss   Sat Nov 21 09:54:12 2026\n", expected: new Date(2026, 10, 21, 9, 54, 12) },
    { name: "takes a zombie for ended", line: "Z    Sat Nov 21 09:54:12 2026\n", expected: undefined },
    {
      name: "waits for the last thread of one",
      line: "Zl   Sat Nov 21 09:54:12 2026\n",
      expected: new Date(2026, 10, 21, 9, 54, 12),
    },
    { name: "takes no answer for ended", line: "", expected: undefined },
  ])("as ps prints it: $name", ({ line, expected }) => {
    expect(parsePsStart(line)).toBe(expected && String(expected.getTime()));
  });
});

/** A line of /proc/PID/stat: pid, name, state, 16 numbers, the number of threads, a number, start time, more numbers. */
function stat(name: string, state: string, threads = 1): string {
  return `7 ${name} ${state} ${Array.from({ length: 16 }, (_, index) => index).join(" ")} ${threads} 0 4711 0 0`;
}
