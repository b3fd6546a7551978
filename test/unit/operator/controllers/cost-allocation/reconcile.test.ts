import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { costAllocationController } from "../../../../../operator/controllers/cost-allocation/controller.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import { CostMonitorUnavailable } from "../../../../../operator/ports/cost-monitor.ts";
import { allocationScene, at, cost, from, gone, hours, living } from "./allocation-scene.ts";

const [MINUTE, HOUR] = [60_000, 3_600_000];

describe("the cost of an environment", () => {
  test("is requested for when a time is over and settled, and kept in its status, once", async () => {
    const { clock, costMonitor, put, start, allocated } = allocationScene();
    put(living("shop", at("09:30")));
    costMonitor.knows(...hours("env-shop", [9, 10, 11, 12]));
    const run = start();
    // Ten minutes after the hour, and every hour.
    expect(await run()).toEqual({ requeueAfterMs: 50 * MINUTE });
    expect(allocated("shop")).toEqual([from("09:30", "12:00", 300)]);
    expect(costMonitor.requested).toHaveLength(3);
    await run();
    expect(costMonitor.requested).toHaveLength(3);
    clock.advance(50 * MINUTE);
    await run();
    expect(allocated("shop")).toEqual([from("09:30", "13:00", 400)]);
    expect(costMonitor.requested.slice(3)).toEqual([`${at("12:00")}/${at("13:00")}`]);
  });

  test("is requested for by the day, too", async () => {
    const { clock, costMonitor, put, start, allocated } = allocationScene(24);
    put(living("shop", at("00:00")));
    costMonitor.knows(...hours("env-shop", [3, 20]));
    const run = start();
    await run();
    expect(costMonitor.requested).toEqual([]);
    clock.advance(11 * HOUR + 50 * MINUTE);
    await run();
    expect(allocated("shop")).toEqual([{ from: at("00:00"), to: "2026-06-02T00:00:00.000Z", ...cost(200) }]);
  });

  test("is not requested for while it is younger than the resolution", async () => {
    const { clock, costMonitor, put, start, allocated } = allocationScene();
    put(living("shop", at("11:50")));
    costMonitor.knows(...hours("env-shop", [11, 12]));
    const run = start();
    await run();
    expect(costMonitor.requested).toEqual([]);
    clock.advance(50 * MINUTE);
    await run();
    expect(allocated("shop")).toEqual([from("11:50", "13:00", 200)]);
  });

  test("is kept beside its record when it is gone", async () => {
    const { costMonitor, records, start, recorded } = allocationScene();
    await records.keep({
      ...gone("shop", "uid-1", [at("08:00"), at("10:30")]),
      allocations: [from("08:00", "09:00", 7)],
    });
    costMonitor.knows(...hours("env-shop", [8, 9, 10]));
    await start()();
    expect(recorded("uid-1")).toEqual([from("08:00", "10:30", 207)]);
  });

  test("of two days is kept beside a record in one, also before the watch shows the first write", async () => {
    const { costMonitor, records, start, recorded, stopWatch } = allocationScene();
    const [begin, midnight] = ["2026-05-31T23:00:00.000Z", at("00:00")];
    await records.keep(gone("shop", "uid-1", [begin, at("01:00")]));
    stopWatch();
    costMonitor.knows({ namespace: "env-shop", at: begin, cost: cost(1) }, ...hours("env-shop", [0], 2));
    await start()();
    expect(recorded("uid-1")).toEqual([{ from: begin, to: midnight, ...cost(1) }, from("00:00", "01:00", 2)]);
  });

  test("is not that of another one, which had its name before: a time of both is priced by requests", async () => {
    const { costMonitor, records, put, start, allocated, recorded } = allocationScene();
    await records.keep(gone("shop", "uid-1", [at("08:00"), at("10:20")]));
    put(living("shop", at("10:40")));
    costMonitor.knows(...hours("env-shop", [8, 9], 1), ...hours("env-shop", [10], 10), ...hours("env-shop", [11], 100));
    await start()();
    expect(recorded("uid-1")).toEqual([from("08:00", "10:00", 2)]);
    expect(allocated("shop")).toEqual([from("11:00", "12:00", 100)]);
  });

  test("is not known where nothing is said: such a time is requested for once", async () => {
    const { costMonitor, put, start, allocated } = allocationScene();
    put(living("shop", at("08:00")));
    costMonitor.knows(...hours("env-shop", [8, 11]));
    const run = start();
    await run();
    await run();
    expect(allocated("shop")).toEqual([from("08:00", "09:00", 100), from("11:00", "12:00", 100)]);
    expect(costMonitor.requested).toHaveLength(4);
  });

  test("is requested for as far as it is not kept when another process takes over", async () => {
    const { costMonitor, put, start, allocated } = allocationScene();
    put(living("shop", at("08:00")));
    costMonitor.knows(...hours("env-shop", [8, 9, 10, 11]));
    await start()();
    const before = allocated("shop");
    put(living("billing", at("10:00")));
    costMonitor.knows(...hours("env-billing", [10, 11]));
    await start()();
    expect(costMonitor.requested.slice(4)).toEqual([`${at("11:00")}/${at("12:00")}`, `${at("10:00")}/${at("11:00")}`]);
    expect(allocated("shop")).toEqual(before);
    expect(allocated("billing")).toEqual([from("10:00", "12:00", 200)]);
  });

  test("is requested for three days later, and not longer", async () => {
    const { clock, costMonitor, put, start, allocated } = allocationScene(24);
    put(living("shop", "2026-05-20T00:00:00Z"));
    costMonitor.knows(...hours("env-shop", [5]));
    clock.advance(58 * HOUR + 40 * MINUTE);
    await start()();
    expect(allocated("shop")).toEqual([{ from: at("00:00"), to: "2026-06-02T00:00:00.000Z", ...cost(100) }]);
    expect(costMonitor.requested).toHaveLength(2);
  });
});

describe("a time of which some is kept", () => {
  test("is not requested for when the resolution has changed: nothing is charged twice", async () => {
    const { costMonitor, put, allocated, start } = allocationScene(4);
    const kept = from("08:00", "10:00", 200);
    const shop = living("shop", at("08:00"));
    put({ ...shop, status: { ...shop.status, allocations: [kept] } } as EphemeralEnvironment);
    costMonitor.knows(...hours("env-shop", [8, 9, 10, 11]));
    await start()();
    expect(costMonitor.requested).toEqual([]);
    expect(allocated("shop")).toEqual([kept]);
  });
});

describe("where the monitor fails", () => {
  test("for one time, the others are kept, and that one is tried again", async () => {
    const { costMonitor, put, start, allocated } = allocationScene();
    put(living("shop", at("09:00")));
    costMonitor.knows(...hours("env-shop", [9, 10, 11]));
    costMonitor.fails(({ fromMs }) => fromMs === Date.parse(at("10:00")));
    const run = start();
    await expect(run()).rejects.toThrow(CostMonitorUnavailable);
    expect(allocated("shop")).toEqual([from("09:00", "10:00", 100), from("11:00", "12:00", 100)]);
    costMonitor.fails(() => false);
    await run();
    expect(allocated("shop")).toEqual([from("09:00", "12:00", 300)]);
  });

  test("for two times, it is left alone until the next try", async () => {
    const { costMonitor, put, start, allocated } = allocationScene();
    put(living("shop", at("00:00")));
    costMonitor.fails(() => true);
    await expect(start()()).rejects.toThrow(CostMonitorUnavailable);
    expect(costMonitor.requested).toHaveLength(2);
    expect(allocated("shop")).toBeUndefined();
  });
});

describe("what was allocated", () => {
  const conflict = new KubeError({ status: 409, reason: "Conflict" });

  test("is stored again when the environment changed meanwhile", async () => {
    const { costMonitor, put, refused, start, allocated } = allocationScene();
    put(living("shop", at("09:00")));
    costMonitor.knows(...hours("env-shop", [9]));
    refused.push(conflict, conflict);
    await start()();
    expect(allocated("shop")).toEqual([from("09:00", "10:00", 100)]);
  });

  test.each([
    ["is gone meanwhile", new KubeError({ status: 404, reason: "NotFound" })],
    ["is refused", new KubeError({ status: 422, reason: "Invalid" })],
  ])("keeps nothing else from being stored where the environment %s", async (_what, error) => {
    const { costMonitor, put, refused, start, allocated } = allocationScene();
    put(living("shop", at("09:00")), living("billing", at("09:00")));
    costMonitor.knows(...hours("env-shop", [9]), ...hours("env-billing", [9]));
    refused.push(error);
    await start()();
    expect([allocated("shop"), allocated("billing")].filter(Boolean)).toEqual([[from("09:00", "10:00", 100)]]);
  });

  test("waits while the API server is away", async () => {
    const { costMonitor, put, refused, start, allocated } = allocationScene();
    put(living("shop", at("09:00")));
    costMonitor.knows(...hours("env-shop", [9]));
    refused.push(new KubeError({ status: 503, reason: "ServiceUnavailable" }));
    const run = start();
    await expect(run()).rejects.toThrow(KubeError);
    await run();
    expect(allocated("shop")).toEqual([from("09:00", "10:00", 100)]);
  });
});

test("without a monitor nothing is requested", () => {
  const { dependencies } = allocationScene();
  expect(costAllocationController({ ...dependencies, costMonitor: undefined }).initialKeys()).toEqual([]);
});
