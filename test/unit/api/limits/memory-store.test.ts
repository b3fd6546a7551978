import { describe, expect, test } from "@jest/globals";
import { memoryStore } from "../../../../api/limits/memory-store.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";

const windowMs = 60_000;
const counting = (maxKeys?: number) => {
  const clock = new TestClock();
  const counters = memoryStore(clock, { windowMs, ...(maxKeys === undefined ? {} : { maxKeys }) });
  return { clock, counters, total: (key: string) => counters.increment(key).total };
};

describe("counters of one process", () => {
  test("count each key over a window that begins with its first request", () => {
    const { clock, counters, total } = counting();
    expect([total("a"), total("a"), total("b")]).toEqual([1, 2, 1]);
    clock.advance(windowMs - 1);
    expect(counters.increment("a")).toEqual({ total: 3, leftMs: 1 });
    expect([counters.total("a"), counters.total("b"), counters.total("c")]).toEqual([3, 1, 0]);
    clock.advance(1);
    expect(counters.total("a")).toBe(0);
    expect(counters.increment("a")).toEqual({ total: 1, leftMs: windowMs });
  });

  test("don't hear of a wall clock that is set back", () => {
    const { clock, counters, total } = counting();
    total("a");
    clock.setBack(3_600_000);
    clock.advance(windowMs);
    expect(counters.increment("a")).toEqual({ total: 1, leftMs: windowMs });
  });

  test("keep every key's count while a million made-up keys come, in bounded memory", () => {
    const { counters, total } = counting();
    for (let request = 0; request < 10; request++) total("victim");
    for (let key = 0; key < 1_000_000; key++) total(`2001:db8:${key.toString(16)}::/56`);
    expect(total("victim")).toBe(11);
    expect(counters.size).toBe(50_000);
  });

  test("count keys beyond the bound together, until there is room", () => {
    const { clock, total } = counting(2);
    expect([total("a"), total("b")]).toEqual([1, 1]);
    clock.advance(1);
    expect([total("c"), total("d"), total("c"), total("a")]).toEqual([1, 2, 3, 2]);
    clock.advance(windowMs - 1);
    expect([total("c"), total("d"), total("e")]).toEqual([1, 1, 4]);
    clock.advance(1);
    expect(total("f")).toBe(1);
  });
});
