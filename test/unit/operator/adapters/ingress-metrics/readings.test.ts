import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { increases, type Reading, trafficOf } from "../../../../../operator/adapters/ingress-metrics/readings.ts";

const never = new AbortController().signal;

describe("the increase of a counter", () => {
  test.each([
    ["is the difference", { a: 3 }, { a: 5 }, { a: 2 }],
    ["is the whole where it was not there before", {}, { a: 5 }, { a: 5 }],
    ["is what it counted since it began anew, where it is less than before", { a: 5 }, { a: 3 }, { a: 3 }],
    ["is none where it stays", { a: 5 }, { a: 5 }, {}],
    ["is none where it is gone", { a: 5 }, {}, {}],
  ])("%s", (_what, former, totals, expected) => {
    const mapOf = (counts: object) => new Map(Object.entries(counts) as [string, number][]);
    expect(increases(mapOf(former), mapOf(totals))).toEqual(mapOf(expected));
  });
});

describe("readings", () => {
  /** Requests to an instance between two readings, and instances that do not answer the second one. */
  const steps = fc.array(
    fc.record({
      requests: fc.array(fc.nat({ max: 5 }), { minLength: 3, maxLength: 3 }),
      silent: fc.subarray([0, 1, 2]),
    }),
    { minLength: 1, maxLength: 10 },
  );

  test("together have each request after the first of them once, whichever fail", async () => {
    const play = async (played: { requests: number[]; silent: number[] }[]) => {
      const counts = [40, 0, 7];
      let silent: readonly number[] = [];
      const read = async (): Promise<Reading> => ({
        instances: ["0", "1", "2"],
        totals: new Map(
          counts.flatMap((count, at) => (silent.includes(at) ? [] : [[String(at), new Map([["env-shop", count]])]])),
        ),
        ...(silent.length > 0 && { failure: new Error("silent") }),
      });
      const traffic = trafficOf({ read, namespacesOf: (subject) => [subject] });
      const requests = async () => (await traffic.requestsSinceLast(new Set(["env-shop"]), never)).get("env-shop") ?? 0;
      expect(await requests()).toBe(0);
      let seen = 0;
      for (const step of [...played, { requests: [0, 0, 0], silent: [] }]) {
        for (const [at, count] of step.requests.entries()) counts[at] = (counts[at] ?? 0) + count;
        silent = step.silent;
        seen += await requests().catch(() => 0);
      }
      expect(seen).toBe(counts.reduce((sum, count) => sum + count, -47));
    };
    await fc.assert(fc.asyncProperty(steps, play));
  });
});
