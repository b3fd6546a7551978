import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Controller, Enqueue, Reconcile } from "../../../../../operator/kit/controller/controller.ts";
import { type ManagerContext, runControllers } from "../../../../../operator/kit/controller/manager.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { until } from "../../../../support/fixtures/until.ts";

let clock: TestClock;
let leading: AbortController;
let isCut: boolean;

beforeEach(() => {
  clock = new TestClock();
  leading = new AbortController();
  isCut = false;
});

function controller(reconcile: Reconcile, more: Partial<Controller> = {}): Controller {
  return { name: "test", reconcile, watches: [], initialKeys: () => [], workers: 1, ...more };
}

function run(controllers: readonly Controller[], more: Partial<ManagerContext> = {}): Promise<void> {
  const context = { log: silentLog, clock, random: () => 0, backoffMs: { first: 100, longest: 1_000 } };
  const cutCalls = () => {
    isCut = true;
  };
  return runControllers(controllers, { ...context, cutCalls, ...more }, leading.signal);
}

test("a key that a watch queues comes before the initial keys, which come in their order", async () => {
  const reconciled: string[] = [];
  const watched = controller(async (key) => void reconciled.push(key), {
    watches: [
      (enqueue) => {
        enqueue("changed");
        return () => undefined;
      },
    ],
    initialKeys: () => ["one", "two"],
  });
  const running = run([watched]);
  await until(() => reconciled.length === 3);
  expect(reconciled).toEqual(["changed", "one", "two"]);
  leading.abort();
  await running;
});

test("watches and subscriptions begin before the initial keys are read, and end after the last reconcile", async () => {
  const order: string[] = [];
  const subscription = (name: string) => () => {
    order.push(`${name} begins`);
    return () => order.push(`${name} ends`);
  };
  let queue: Enqueue = () => undefined;
  const begins = subscription("watch");
  const watched = controller(async () => void order.push("reconciled"), {
    watches: [
      (enqueue) => {
        queue = enqueue;
        return begins();
      },
    ],
    initialKeys: () => {
      order.push("initial keys");
      return [];
    },
  });
  const running = run([watched], { subscriptions: [subscription("audit")] });
  queue("late");
  await until(() => order.includes("reconciled"));
  leading.abort();
  await running;
  expect(order).toEqual(["watch begins", "audit begins", "initial keys", "reconciled", "watch ends", "audit ends"]);
});

test("a failed key is requeued with the manager's backoff, or with its controller's own", async () => {
  const attempts: Record<string, number[]> = { common: [], own: [] };
  const failing = (name: string, more: Partial<Controller> = {}) =>
    controller(
      async () => {
        attempts[name]?.push(clock.monotonicMs());
        throw new Error("not yet");
      },
      { name, initialKeys: () => ["key"], ...more },
    );
  const running = run([failing("common"), failing("own", { backoffMs: { first: 400, longest: 400 } })]);
  const first = clock.monotonicMs();
  for (const atMs of [100, 300, 400]) {
    await until(() => clock.pending.length === 2);
    clock.advance(first + atMs - clock.monotonicMs());
  }
  await until(() => attempts.own?.length === 2);
  expect(attempts).toEqual({ common: [first, first + 100, first + 300], own: [first, first + 400] });
  leading.abort();
  clock.advance(0);
  await running;
});

describe("at the end", () => {
  const slow = () => {
    const reconciling = Promise.withResolvers<void>();
    let isAborted = false;
    const one = controller(
      (_key, { signal }) => {
        signal.addEventListener("abort", () => {
          isAborted = true;
          reconciling.resolve();
        });
        return reconciling.promise;
      },
      { initialKeys: () => ["key"] },
    );
    return { one, end: () => reconciling.resolve(), isAborted: () => isAborted };
  };

  test("a reconcile in work may end, and only then calls are cut", async () => {
    const { one, end, isAborted } = slow();
    const running = run([one]);
    await until(() => clock.pending.length > 0);
    leading.abort("stopping");
    await until(() => clock.pending.length > 2);
    expect([isCut, isAborted()]).toEqual([false, false]);
    end();
    await running;
    expect([isCut, isAborted()]).toEqual([true, false]);
  });

  test("a reconcile that takes longer than a second is aborted", async () => {
    const { one, isAborted } = slow();
    const running = run([one]);
    await until(() => clock.pending.length > 0);
    leading.abort("stopping");
    await until(() => clock.pending.length > 2);
    clock.advance(1_000);
    await running;
    expect([isCut, isAborted()]).toEqual([true, true]);
  });

  test("lost leadership cuts at once", async () => {
    const { one, isAborted } = slow();
    const running = run([one]);
    await until(() => clock.pending.length > 0);
    leading.abort("lost");
    expect(isAborted()).toBe(false);
    await until(() => isCut);
    clock.advance(0);
    await running;
    expect(isAborted()).toBe(true);
  });
});
