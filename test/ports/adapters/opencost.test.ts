import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openCostMonitor } from "../../../operator/adapters/opencost/cost-monitor.ts";
import { CostMonitorUnavailable } from "../../../operator/ports/cost-monitor.ts";
import { type OpenCostServer, startOpenCostServer } from "../../support/doubles/opencost-server.ts";
import { costMonitorSuite } from "../suites/cost-monitor.suite.ts";

const never = new AbortController().signal;
const HOUR = { fromMs: Date.parse("2026-06-01T12:00:00.000Z"), toMs: Date.parse("2026-06-01T13:00:00.000Z") };

costMonitorSuite("by OpenCost", async () => {
  const server = await startOpenCostServer();
  const allocations = openCostMonitor({ url: server.url });
  return {
    allocations,
    knows: server.knows,
    fails: (isFailing) => server.answers(isFailing ? { status: 500, body: '{"code":500,"data":null}' } : "normal"),
    async stop() {
      await allocations.close();
      await server.stop();
    },
  };
});

describe("OpenCost", () => {
  let server: OpenCostServer;
  let allocations: ReturnType<typeof openCostMonitor>;
  beforeAll(async () => {
    server = await startOpenCostServer();
    allocations = openCostMonitor({ url: `${server.url}/`, timeoutMs: 500, answerLimitBytes: 4_096 });
  });
  afterAll(async () => {
    await allocations.close();
    await server.stop();
  });
  const ask = () => allocations.byNamespace(HOUR, never);
  const answered = (data: unknown) => server.answers({ status: 200, body: JSON.stringify({ code: 200, data }) });

  test("is requested by namespace for exactly the period", async () => {
    server.answers("normal");
    await ask();
    expect(Object.fromEntries(server.requested.at(-1) ?? [])).toEqual({
      window: "2026-06-01T12:00:00Z,2026-06-01T13:00:00Z",
      aggregate: "namespace",
      resolution: "1m",
    });
  });

  test("may answer several sets, or an empty one", async () => {
    const row = (cpuCost: number) => ({ "env-shop": { cpuCost, totalCost: cpuCost } });
    answered([row(0.00001), null, row(0.5), {}]);
    expect([...(await ask())]).toEqual([["env-shop", { cpu: 50_001, memory: 0, storage: 0, other: 0 }]]);
    answered([null]);
    expect([...(await ask())]).toEqual([]);
  });

  test("knows of more than CPU, memory and volumes; discounts count", async () => {
    answered([
      {
        "env-shop": {
          cpuCost: 1,
          cpuCostAdjustment: -0.25,
          ramCost: 0.5,
          ramCostAdjustment: -1,
          pvCost: 0.125,
          gpuCost: 2,
          networkCost: 0.01,
          loadBalancerCost: 0.02,
          sharedCost: 0.03,
          externalCost: 0.04,
          totalCost: 3.475,
        },
      },
    ]);
    const cost = { cpu: 75_000, memory: 0, storage: 12_500, other: 210_000 };
    expect([...(await ask())]).toEqual([["env-shop", cost]]);
  });

  test("is not believed where it does not know the total", async () => {
    answered([{ "env-shop": { cpuCost: 1, totalCost: null }, "env-odd": null, "env-billing": { totalCost: 0 } }]);
    expect([...(await ask()).keys()]).toEqual(["env-billing"]);
  });

  test.each([
    ["a status", { status: 503, body: "no" }],
    ["an error with the status 200", { status: 200, body: '{"code":500,"data":null,"message":"no Prometheus"}' }],
    ["something else than JSON", { status: 200, body: "<html>" }],
    ["null", { status: 200, body: "null" }],
    ["no data", { status: 200, body: '{"code":200,"data":{}}' }],
    ["too much", { status: 200, body: JSON.stringify({ code: 200, data: [], more: "x".repeat(5_000) }) }],
    ["nothing in time", "hangs" as const],
  ])("that answers %s is unavailable", async (_what, mood) => {
    server.answers(mood);
    await expect(ask()).rejects.toThrow(CostMonitorUnavailable);
  });

  test("that redirects is not followed", async () => {
    const other = await startOpenCostServer();
    server.answers({ status: 302, body: "", location: `${other.url}/allocation/compute` });
    await expect(ask()).rejects.toThrow(CostMonitorUnavailable);
    expect(other.requested).toEqual([]);
    await other.stop();
  });

  test("that is away is unavailable", async () => {
    const gone = await startOpenCostServer();
    await gone.stop();
    const unreachable = openCostMonitor({ url: gone.url });
    await expect(unreachable.byNamespace(HOUR, never)).rejects.toThrow("OpenCost does not answer (ECONNREFUSED)");
    await unreachable.close();
  });
});
