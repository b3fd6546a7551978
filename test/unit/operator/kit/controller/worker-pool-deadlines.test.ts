import { describe, expect, test } from "@jest/globals";
import type { Reconcile } from "../../../../../operator/kit/controller/controller.ts";
import type { Log } from "../../../../../operator/kit/log.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { outcomesInto, runningWorkerPools } from "./running-worker-pools.ts";

const world = runningWorkerPools();
const { started } = world;

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
  });

describe("reconciles that wait for something slow", () => {
  const scene = (workers: number) => {
    const passes: string[] = [];
    const gate = Promise.withResolvers<void>();
    const reconcile: Reconcile = async (key) => {
      passes.push(key);
      if (key.startsWith("slow")) await gate.promise;
    };
    return { passes, gate, controller: started(reconcile, { workers }) };
  };
  const slow = (count: number) => Array.from({ length: count }, (_, index) => `slow-${index}`);

  test("leave their workers to others after a second", async () => {
    const { passes, gate, controller } = scene(2);
    for (const key of [...slow(2), "healthy"]) controller.enqueue(key);
    await until(() => controller.inWork === 2);
    world.clock.advance(999);
    expect(passes).not.toContain("healthy");
    world.clock.advance(1);
    await until(() => passes.includes("healthy"));
    gate.resolve();
    await until(() => controller.inWork === 0);
  });

  test("are three times as many as there are workers at most, and no more workers are left when they end", async () => {
    const { passes, gate, controller } = scene(2);
    for (const key of slow(20)) controller.enqueue(key);
    for (let second = 1; second <= 5; second += 1) {
      await until(() => controller.inWork === Math.min(6, 2 * second));
      world.clock.advance(1_000);
    }
    expect(passes).toHaveLength(6);
    gate.resolve();
    await until(() => controller.inWork === 0 && passes.length === 20);
    expect(world.clock.pending).toEqual([]);
  });
});

test("a pass beyond its deadline is aborted and tried again", async () => {
  const outcomes: string[] = [];
  const controller = started((_key, { signal }) => untilAborted(signal), {
    deadlineMs: 10_000,
    metrics: outcomesInto(outcomes),
  });
  controller.enqueue("a");
  await until(() => controller.inWork === 1);
  world.clock.advance(10_000);
  await until(() => world.clock.pending.includes(500));
  expect(outcomes).toEqual(["timeout"]);
});

describe("stop", () => {
  test("lets a pass finish within the grace", async () => {
    const gate = Promise.withResolvers<void>();
    let wasAborted: boolean | undefined;
    const controller = started(async (_key, { signal }) => {
      await gate.promise;
      wasAborted = signal.aborted;
    });
    controller.enqueue("a");
    await until(() => controller.inWork === 1);
    const stopped = controller.stop({ graceMs: 5_000 });
    world.clock.advance(4_999);
    gate.resolve();
    await stopped;
    expect(wasAborted).toBe(false);
    expect(world.clock.pending).toEqual([]);
  });

  test("aborts it after the grace, and begins nothing new", async () => {
    const passes: string[] = [];
    const controller = started(
      (key, { signal }) => {
        passes.push(key);
        return untilAborted(signal);
      },
      { workers: 1 },
    );
    controller.enqueue("a");
    controller.enqueue("b");
    await until(() => controller.inWork === 1);
    const stopped = controller.stop({ graceMs: 5_000 });
    world.clock.advance(5_000);
    await stopped;
    expect(passes).toEqual(["a"]);
    expect([controller.inWork, world.clock.pending]).toEqual([0, []]);
  });

  test("does not wait for ever for a pass that outlasts its end", async () => {
    const gate = Promise.withResolvers<void>();
    const errors: string[] = [];
    const log: Log = { ...silentLog, warn: (message) => errors.push(message), with: () => log };
    const controller = started(() => gate.promise, { log });
    controller.enqueue("a");
    await until(() => controller.inWork === 1);
    const stopped = controller.stop();
    world.clock.advance(0);
    await until(() => world.clock.pending.includes(500));
    world.clock.advance(500);
    await stopped;
    expect(errors).toEqual(["reconciles did not end when aborted"]);
    gate.resolve();
  });
});
