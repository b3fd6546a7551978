import { beforeEach, describe, expect, test } from "@jest/globals";
import { WorkQueue } from "../../../../../operator/kit/controller/work-queue.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { seededRandom } from "../../../../support/faults/seeded-random.ts";

let clock: TestClock;
let queue: WorkQueue;

beforeEach(() => {
  clock = new TestClock();
  queue = new WorkQueue({ clock, random: () => 0 });
});

describe("backoff", () => {
  test("doubles from half a second to five minutes, and ends when forgotten", () => {
    const delays = Array.from({ length: 11 }, () => queue.retry("a"));
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000]);
    expect(queue.failures("a")).toBe(11);
    queue.forget("a");
    expect([queue.failures("a"), queue.retry("a")]).toEqual([0, 500]);
  });

  test("is never shorter than what was asked for", () => {
    expect([queue.retry("a", 700), queue.retry("a", 700), queue.retry("a", 700)]).toEqual([700, 1_000, 2_000]);
  });

  test("of one key is none of another's", () => {
    for (let failure = 0; failure < 8; failure += 1) queue.retry("a");
    expect(queue.retry("b")).toBe(500);
  });

  test("a common bucket slows a storm of retries down, but never a first try", () => {
    const delays = Array.from({ length: 108 }, (_, index) => queue.retry(`broken-${index}`));
    expect(delays).toEqual([...Array.from({ length: 105 }, () => 500), 600, 700, 800]);
    queue.add("fresh");
    expect(queue.depth).toBe(1);
    clock.advance(60_000);
    expect(queue.retry("another")).toBe(500);
  });
});

describe("a storm of retries", () => {
  const longest = 15_000;
  const keysOf = (count: number) => Array.from({ length: count }, (_, index) => `broken-${index}`);

  /** A queue whose keys fail for this time whenever they are taken; with the longest wait. */
  async function afterFailing(count: number, forMs: number): Promise<{ stormy: WorkQueue; longestWaitMs: number }> {
    const stormy = new WorkQueue({ clock, random: seededRandom(1), backoffMs: { first: 500, longest } });
    const waits = keysOf(count).map((key) => stormy.retry(key));
    for (const endMs = clock.monotonicMs() + forMs; clock.monotonicMs() < endMs; clock.advance(100)) {
      while (stormy.depth > 0) {
        const key = String(await stormy.take());
        waits.push(stormy.retry(key));
        stormy.done(key);
      }
    }
    return { stormy, longestWaitMs: Math.max(...waits) };
  }

  test.each([
    { name: "some hundreds, for minutes", count: 300, forMs: 120_000 },
    { name: "a thousand, for a minute", count: 1_000, forMs: 60_000 },
    { name: "ten thousand, once", count: 10_000, forMs: 0 },
  ])("lets no key wait for more than the longest backoff: $name", async ({ count, forMs }) => {
    const { stormy, longestWaitMs } = await afterFailing(count, forMs);
    expect(longestWaitMs).toBeLessThanOrEqual(longest);
    expect(stormy.retry("another")).toBeLessThanOrEqual(longest);
  });

  test("of keys that are as slow as they get holds up no other", async () => {
    const { stormy } = await afterFailing(300, 120_000);
    expect(stormy.retry("another")).toBeLessThanOrEqual(500);
  });

  test("is owed for no longer than the longest backoff after it", async () => {
    const { stormy } = await afterFailing(10_000, 0);
    clock.advance(longest);
    expect(stormy.retry("another")).toBeLessThanOrEqual(500);
  });

  test("beyond what the bucket can take is spread evenly, not put off to one moment", async () => {
    const stormy = new WorkQueue({ clock, random: seededRandom(1), backoffMs: { first: 500, longest } });
    const perSecond = Array.from({ length: longest / 1000 }, () => 0);
    for (const key of keysOf(3_000)) {
      const second = Math.min(Math.floor(stormy.retry(key) / 1000), perSecond.length - 1);
      perSecond[second] = (perSecond[second] ?? 0) + 1;
    }
    expect(Math.max(...perSecond)).toBeLessThan(2 * (3_000 / perSecond.length));
  });
});
