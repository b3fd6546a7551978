import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import type { Reconcile } from "../../../../../operator/kit/controller/controller.ts";
import { recordedLog } from "../../../../support/fixtures/recorded-log.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { outcomesInto, runningWorkerPools } from "./running-worker-pools.ts";

const world = runningWorkerPools();
const { started } = world;

test("reconciles of one key never overlap, whatever the workers do", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom("a", "b"), { maxLength: 30 }), async (adds) => {
      const inWork = new Set<string>();
      const seen = new Set<string>();
      const controller = started(
        async (key) => {
          expect(inWork.has(key)).toBe(false);
          inWork.add(key);
          await Promise.resolve();
          inWork.delete(key);
          seen.add(key);
        },
        { workers: 4 },
      );
      for (const key of adds) {
        controller.enqueue(key);
        await Promise.resolve();
      }
      await until(() => controller.depth === 0 && controller.inWork === 0);
      expect(seen).toEqual(new Set(adds));
    }),
  );
});

test("a key that always fails backs off and stops no other", async () => {
  const passes: string[] = [];
  const controller = started(
    async (key) => {
      passes.push(key);
      if (key === "poison") throw new Error("poison");
    },
    { workers: 1 },
  );
  controller.enqueue("poison");
  controller.enqueue("healthy");
  await until(() => passes.includes("healthy"));
  for (const delayMs of [500, 1_000, 2_000]) {
    await until(() => world.clock.pending.includes(delayMs));
    world.clock.advance(delayMs);
  }
  await until(() => passes.filter((key) => key === "poison").length === 4);
});

test("a key waits as long as the API server asks, when that is longer than its backoff", async () => {
  const controller = started(async () => {
    throw new KubeError({ status: 429, reason: "TooManyRequests", retryAfterSeconds: 3 });
  });
  controller.enqueue("throttled");
  await until(() => world.clock.pending.includes(3_000));
  expect(world.clock.pending).not.toContain(500);
});

test("reconciles that never wait let the event loop have its turns", async () => {
  let passed = 0;
  const busy = async () => {
    const until = performance.now() + 1;
    while (performance.now() < until);
    passed += 1;
  };
  const controller = started(busy, { workers: 4 });
  const passedByTurn: number[] = [];
  const turn = setInterval(() => passedByTurn.push(passed), 1);
  for (let key = 0; key < 100; key += 1) controller.enqueue(String(key));
  await until(() => passed === 100);
  clearInterval(turn);
  expect(passedByTurn.filter((count) => count > 0 && count < 100).length).toBeGreaterThan(3);
});

test("a success ends the backoff", async () => {
  let failuresLeft = 2;
  const outcomes: string[] = [];
  const controller = started(
    async () => {
      failuresLeft -= 1;
      if (failuresLeft >= 0 || failuresLeft === -2) throw new Error("not yet");
    },
    { metrics: outcomesInto(outcomes) },
  );
  controller.enqueue("a");
  await until(() => world.clock.pending.includes(500));
  world.clock.advance(500);
  await until(() => world.clock.pending.includes(1_000));
  world.clock.advance(1_000);
  await until(() => outcomes.length === 3);
  controller.enqueue("a");
  await until(() => world.clock.pending.includes(500));
  expect(outcomes).toEqual(["failed", "failed", "done", "failed"]);
});

test("lines of a reconcile carry its controller, key and id, and a key that names a person in another form", async () => {
  const { log, lines } = recordedLog();
  const reconcile: Reconcile = async () => {
    log.info("from a step");
    throw new Error("it failed");
  };
  const plain = started(reconcile, { log, name: "environments" });
  plain.enqueue("shop");
  await until(() => lines.length === 2);
  const personal = started(reconcile, { log, name: "notifications", loggedKey: (key) => `${key.length} characters` });
  personal.enqueue("email/dev@example.test");
  await until(() => lines.length === 4);
  expect(lines.map(({ message, controller, key }) => [message, controller, key])).toEqual([
    ["from a step", "environments", "shop"],
    ["a reconcile failed", "environments", "shop"],
    ["from a step", "notifications", "22 characters"],
    ["a reconcile failed", "notifications", "22 characters"],
  ]);
  const ids = lines.map(({ reconcileId }) => reconcileId);
  expect([ids[0] === ids[1], ids[2] === ids[3], ids[0] === ids[2]]).toEqual([true, true, false]);
});

test("a promised moment comes before all that waits then, also when the pass failed that promised it", async () => {
  const passes: string[] = [];
  const held = Promise.withResolvers<void>();
  const reconcile: Reconcile = async (key, { requeueUrgently }) => {
    passes.push(key);
    if (key === "busy") await held.promise;
    if (key !== "expiry" || passes.length > 2) return;
    requeueUrgently(1_000);
    throw new Error("not now");
  };
  const controller = started(reconcile, { workers: 1 });
  for (const key of ["expiry", "busy"]) controller.enqueue(key);
  await until(() => passes.length === 2);
  controller.enqueue("routine", "low");
  world.clock.advance(950);
  controller.enqueue("user");
  world.clock.advance(50);
  held.resolve();
  await until(() => passes.length === 5);
  expect(passes.slice(2)).toEqual(["expiry", "user", "routine"]);
});

test("a pass that asks for another look gets it", async () => {
  let passes = 0;
  const controller = started(async () => {
    passes += 1;
    return { requeueAfterMs: 3_600_000 };
  });
  controller.enqueue("a");
  await until(() => world.clock.pending.includes(3_600_000));
  world.clock.advance(3_600_000);
  await until(() => passes === 2);
});

test("keys whose reconciles last longer than their rechecks and retries leave the workers to others too", async () => {
  const passes: string[] = [];
  const controller = started(
    async (key) => {
      passes.push(key);
      world.clock.advance(900);
      if (passes.length > 50 || key.startsWith("start-up")) return;
      if (key === "failing") throw new Error("again");
      return { requeueAfterMs: 500 };
    },
    { workers: 1 },
  );
  for (const key of ["busy-1", "busy-2", "failing"]) controller.enqueue(key);
  for (const key of ["start-up-1", "start-up-2"]) controller.enqueue(key, "low");
  await until(() => passes.length > 50);
  expect(passes.slice(0, 5)).toEqual(["busy-1", "busy-2", "failing", "start-up-1", "start-up-2"]);
});
