import { describe, expect, test } from "@jest/globals";
import { circuitBreaker } from "../../../../../operator/adapters/google/circuit-breaker.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

const failing = (code: unknown) => () => Promise.reject(Object.assign(new Error(`code ${String(code)}`), { code }));
const messageOf = (work: Promise<unknown>) => work.then(String, (error: Error) => error.message);

describe("the circuit breaker", () => {
  /** One pending call after a first one with the given end; the result of a concurrent second one. */
  test.each([
    { name: "nothing failed yet: all go", first: async () => 1, expected: "went" },
    { name: "no answer in time: one at a time", first: failing(4), expected: "code 4" },
    { name: "no connection: one at a time", first: failing(14), expected: "code 14" },
    { name: "a refusal is an answer: all go", first: failing(7), expected: "went" },
    { name: "a failure of our own says nothing of the service: all go", first: failing(undefined), expected: "went" },
  ])("$name", async ({ first, expected }) => {
    const { run: through } = circuitBreaker(new TestClock());
    await messageOf(through(first));
    const slow = Promise.withResolvers<string>();
    const underWay = through(() => slow.promise);
    expect(await messageOf(through(async () => "went"))).toBe(expected);
    slow.resolve("back");
    expect(await underWay).toBe("back");
    expect(await messageOf(Promise.all([1, 2].map(() => through(async () => "went"))))).toBe("went,went");
  });

  test("one at a time goes on while those that look fail for reasons of their own", async () => {
    const { run: through } = circuitBreaker(new TestClock());
    for (const code of [14, undefined]) expect(await messageOf(through(failing(code)))).toBe(`code ${String(code)}`);
    const slow = Promise.withResolvers<string>();
    const underWay = through(() => slow.promise);
    expect(await messageOf(through(async () => "went"))).toBe("code 14");
    slow.resolve("back");
    await underWay;
  });

  test("the next one looks when the one that looked failed", async () => {
    const { run: through } = circuitBreaker(new TestClock());
    for (const code of [14, 4, 14]) expect(await messageOf(through(failing(code)))).toBe(`code ${code}`);
    expect(await through(async () => "back")).toBe("back");
  });

  test("reports its state, and since when", async () => {
    const clock = new TestClock();
    const { run, state } = circuitBreaker(clock);
    const at = (seconds: number) => new Date(Date.parse("2026-01-01T00:00:00.000Z") + seconds * 1_000);
    const stateAfter = async (work: () => Promise<unknown>) => {
      clock.advance(1_000);
      await messageOf(run(work));
      return state();
    };
    expect(state()).toEqual({ state: "closed", since: at(0) });
    expect(await stateAfter(failing(7))).toEqual({ state: "closed", since: at(0) });
    expect(await stateAfter(failing(14))).toEqual({ state: "open", since: at(2) });
    expect(await stateAfter(failing(4))).toEqual({ state: "open", since: at(2) });
    const slow = Promise.withResolvers<string>();
    const underWay = run(() => slow.promise);
    expect(state()).toEqual({ state: "half_open", since: at(2) });
    slow.resolve("back");
    await underWay;
    expect(state()).toEqual({ state: "closed", since: at(3) });
  });
});
