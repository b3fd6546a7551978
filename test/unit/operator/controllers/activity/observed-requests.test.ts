import { describe, expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
import { ObservedRequests } from "../../../../../operator/controllers/activity/observed-requests.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

const shop = environmentFixture({ metadata: { name: "shop", uid: "shop" } });
const BEGIN = "2026-03-02T08:00:00.000Z";

/** Readings a minute apart, each of the requests to the shop and of our own probes among them. */
function observed(readings: readonly (readonly [requests: number, probes: number])[], minimum = 1) {
  const clock = new TestClock(BEGIN);
  const requests = new ObservedRequests({ clock, hasSource: true });
  for (const [index, [count, probes]] of readings.entries()) {
    if (index > 0) clock.advance(MINUTE_MS);
    requests.record([{ uid: "shop", requests: count, probes, minimum }]);
  }
  return { clock, requests };
}

const lastMinute = (...of: Parameters<typeof observed>) => {
  const at = observed(...of).requests.of(shop)?.lastRequestAt;
  return at === undefined ? undefined : (at.getTime() - Date.parse(BEGIN)) / MINUTE_MS;
};

describe("a request", () => {
  test.each([
    [
      "is activity at its reading",
      [
        [0, 0],
        [1, 0],
      ],
      1,
    ],
    [
      "is activity at the last reading that has one",
      [
        [0, 0],
        [1, 0],
        [2, 0],
        [0, 0],
      ],
      2,
    ],
    [
      "of before the first reading is not known to be recent",
      [
        [9, 0],
        [0, 0],
      ],
      undefined,
    ],
    [
      "of our own prober is none",
      [
        [0, 0],
        [2, 2],
        [2, 2],
      ],
      undefined,
    ],
    [
      "beside our own prober's is activity",
      [
        [0, 0],
        [2, 2],
        [3, 2],
      ],
      2,
    ],
    [
      "of our own prober that is counted at the next reading is none",
      [
        [0, 0],
        [0, 1],
        [1, 0],
      ],
      undefined,
    ],
    [
      "of our own prober that is never counted hides requests of one reading alone",
      [
        [0, 0],
        [0, 1],
        [0, 0],
        [1, 0],
      ],
      3,
    ],
  ] as const)("%s", (_rule, readings, minute) => {
    expect(lastMinute(readings)).toBe(minute);
  });

  test("is activity when there are as many as required within five minutes", () => {
    const monitor = [
      [0, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
    ] as const;
    expect(lastMinute(monitor, 6)).toBeUndefined();
    expect(lastMinute([...monitor, [2, 0]], 6)).toBe(8);
  });
});

describe("what is known", () => {
  test("begins with the first reading that has the environment", () => {
    const { requests } = observed([[5, 0]]);
    expect(requests.of(shop)).toMatchObject({ observedSince: new Date(BEGIN) });
    expect(requests.of(environmentFixture({ metadata: { name: "other", uid: "other" } }))).toBeUndefined();
  });

  test("is nothing while readings fail for minutes, and goes on after them", () => {
    const { clock, requests } = observed([
      [0, 0],
      [1, 0],
    ]);
    expect(requests.problem()).toBeUndefined();
    clock.advance(4 * MINUTE_MS);
    expect(requests.of(shop)).toBeUndefined();
    expect(requests.problem()).toMatch(/nothing is idle/);
    requests.record([{ uid: "shop", requests: 0, probes: 0, minimum: 1 }]);
    expect(requests.of(shop)).toMatchObject({ observedSince: new Date(BEGIN) });
    expect(requests.problem()).toBeUndefined();
  });

  test("is nothing without a source, which is a problem at once; a first reading has its time", () => {
    const clock = new TestClock(BEGIN);
    expect(new ObservedRequests({ clock, hasSource: false }).problem()).toMatch(/names no source/);
    const starting = new ObservedRequests({ clock, hasSource: true });
    expect([starting.of(shop), starting.problem()]).toEqual([undefined, undefined]);
    clock.advance(4 * MINUTE_MS);
    expect(starting.problem()).toMatch(/has not said for minutes/);
  });

  test("is nothing without being a problem, too, in the first minutes of a replica that has stood by for long", () => {
    const clock = new TestClock(BEGIN);
    const standingBy = new ObservedRequests({ clock, hasSource: true });
    clock.advance(30 * MINUTE_MS);
    expect([standingBy.of(shop), standingBy.problem()]).toEqual([undefined, undefined]);
    clock.advance(4 * MINUTE_MS);
    expect(standingBy.problem()).toMatch(/has not said for minutes/);
  });

  test("is forgotten with its environment", () => {
    const { requests } = observed([
      [0, 0],
      [1, 0],
    ]);
    requests.record([]);
    expect(requests.of(shop)).toBeUndefined();
  });
});
