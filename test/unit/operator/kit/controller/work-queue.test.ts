import { AsyncLocalStorage } from "node:async_hooks";
import { beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Priority } from "../../../../../operator/kit/controller/controller.ts";
import { WorkQueue } from "../../../../../operator/kit/controller/work-queue.ts";
import { MAX_TIMER_MS } from "../../../../../operator/kit/time/clock.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

let clock: TestClock;
let queue: WorkQueue;

beforeEach(() => {
  clock = new TestClock();
  queue = new WorkQueue({ clock, random: () => 0 });
});

/** A queue, and a model of it: every key added and not taken since. */
class Ledger {
  readonly queue = new WorkQueue({ clock: new TestClock() });
  readonly working: string[] = [];
  readonly owed = new Set<string>();

  add(key: string, priority: Priority): void {
    this.queue.add(key, priority);
    this.owed.add(key);
  }

  async take(): Promise<void> {
    if (this.queue.depth === 0) return;
    const key = await this.queue.take();
    expect(this.working).not.toContain(key);
    expect(this.owed).toContain(key);
    this.working.push(String(key));
    this.owed.delete(String(key));
  }

  done(pick: number): void {
    for (const key of this.working.splice(pick % Math.max(1, this.working.length), 1)) this.queue.done(key);
  }

  check(): void {
    expect(this.queue.inWork).toBe(this.working.length);
    expect(this.queue.depth).toBe([...this.owed].filter((key) => !this.working.includes(key)).length);
  }

  async finish(): Promise<void> {
    while (this.working.length > 0 || this.queue.depth > 0) {
      this.done(0);
      await this.take();
    }
  }
}

type Step = (ledger: Ledger) => void | Promise<void>;

const add = fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom<Priority>("urgent", "high", "low")).map(
  ([key, priority]): Step =>
    (ledger) =>
      ledger.add(key, priority),
);
const take = fc.constant<Step>((ledger) => ledger.take());
const done = fc.nat().map(
  (pick): Step =>
    (ledger) =>
      ledger.done(pick),
);

test("for any sequence of adds, takes and dones a key is in work at most once, and no add is lost", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(add, take, done), { maxLength: 60 }), async (steps) => {
      const ledger = new Ledger();
      for (const step of steps) {
        await step(ledger);
        ledger.check();
      }
      await ledger.finish();
      expect(ledger.owed.size).toBe(0);
    }),
  );
});

describe("order", () => {
  test("what a user waits for comes before start-up, and is promoted among them", async () => {
    queue.add("start-up-1", "low");
    queue.add("start-up-2", "low");
    queue.add("user");
    queue.add("start-up-2", "high");
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(["user", "start-up-2", "start-up-1"]);
  });

  test("a stream of urgent keys leaves every fifth turn to the others, which keep their order", async () => {
    for (const key of ["start-up-1", "start-up-2"]) queue.add(key, "low");
    const taken: (string | undefined)[] = [];
    for (let turn = 0; turn < 11; turn += 1) {
      for (const key of ["busy-1", "busy-2"]) queue.add(key);
      const key = await queue.take();
      taken.push(key);
      queue.done(String(key));
    }
    expect([taken.indexOf("start-up-1"), taken.indexOf("start-up-2")]).toEqual([4, 9]);
  });

  test("turns without other waiters are not held against urgent keys", async () => {
    for (let turn = 0; turn < 20; turn += 1) queue.add(`busy-${turn}`);
    for (let turn = 0; turn < 10; turn += 1) await queue.take();
    queue.add("start-up", "low");
    const next = [await queue.take(), await queue.take(), await queue.take(), await queue.take(), await queue.take()];
    expect(next.indexOf("start-up")).toBe(4);
  });

  test("what falls due later comes behind what waits already, and a user's wish promotes it", async () => {
    queue.addAfter("recheck", 1_000);
    queue.retry("retry");
    clock.advance(1_000);
    queue.add("start-up", "low");
    queue.add("user");
    queue.add("recheck");
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(["user", "recheck", "retry"]);
  });

  test("urgent keys come before all others, and are never passed over", async () => {
    queue.add("start-up", "low");
    queue.add("user");
    for (let turn = 0; turn < 10; turn += 1) queue.add(`moment-${turn}`, "urgent");
    const taken: (string | undefined)[] = [];
    while (queue.depth > 0) taken.push(await queue.take());
    expect(taken.slice(9)).toEqual(["moment-9", "user", "start-up"]);
  });

  test("a key that waits already, or is in work, is promoted and never set back", async () => {
    queue.add("in-work");
    await queue.take();
    for (const priority of ["low", "urgent", "high"] as const) {
      for (const key of ["waiting", "in-work"]) queue.add(key, priority);
    }
    queue.add("user");
    queue.done("in-work");
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(["waiting", "in-work", "user"]);
  });

  test("those who wait for a key get it at once", async () => {
    const taken = queue.take();
    queue.add("a");
    expect(await taken).toBe("a");
  });
});

describe("later", () => {
  test("a timer holds nothing of the work that asked for it", () => {
    const work = new AsyncLocalStorage<string>();
    const held: unknown[] = [];
    const recording = Object.assign(new TestClock(), {
      setTimer: () => {
        held.push(work.getStore());
        return () => undefined;
      },
    });
    const waiting = new WorkQueue({ clock: recording });
    work.run("a reconcile", () => waiting.addAfter("a", 1_000));
    expect(held).toEqual([undefined]);
  });

  test("of several due times the earliest wins", () => {
    queue.addAfter("a", 5_000);
    queue.addAfter("a", 1_000);
    queue.addAfter("a", 9_000);
    clock.advance(999);
    expect(queue.depth).toBe(0);
    clock.advance(1);
    expect(queue.depth).toBe(1);
    expect(clock.pending).toEqual([]);
  });

  test("months are waited for in pieces that a timer can do", () => {
    const delayMs = 3 * MAX_TIMER_MS;
    queue.addAfter("a", delayMs);
    for (let piece = 0; piece < 3; piece += 1) {
      expect(queue.depth).toBe(0);
      expect(Math.max(...clock.pending)).toBeLessThanOrEqual(MAX_TIMER_MS);
      clock.advance(MAX_TIMER_MS);
    }
    expect(queue.depth).toBe(1);
  });
});

describe("close", () => {
  test("drops what waits, frees the takers and leaves no timer", async () => {
    const taken = queue.take();
    queue.addAfter("later", 1_000);
    queue.close();
    queue.add("a");
    queue.addAfter("a", 1);
    expect([await taken, await queue.take(), queue.depth, clock.pending]).toEqual([undefined, undefined, 0, []]);
  });

  test("lets work in hand end", async () => {
    queue.add("a");
    await queue.take();
    queue.add("a");
    queue.close();
    expect(queue.inWork).toBe(1);
    queue.done("a");
    expect([queue.inWork, queue.depth]).toEqual([0, 0]);
  });
});
