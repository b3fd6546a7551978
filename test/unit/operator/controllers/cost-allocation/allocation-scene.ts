import type { EnvironmentRecord, RecordSpec } from "../../../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { costAllocationController } from "../../../../../operator/controllers/cost-allocation/controller.ts";
import type { CostAllocationDependencies } from "../../../../../operator/controllers/cost-allocation/reconcile.ts";
import { memoryCostMonitor } from "../../../../support/doubles/memory/costs/cost-monitor.ts";
import { memoryRecords } from "../../../../support/doubles/memory/records.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { environmentFixture, fixtureSettings } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const DAY = "2026-06-01";
export const at = (time: string) => `${DAY}T${time}:00.000Z`;
export const cost = (cpu: number) => ({ cpu, memory: 0, storage: 0, other: 0 });
/** The costs of a namespace in the hours with these beginnings. */
export const hours = (namespace: string, begins: readonly number[], cpu = 100) =>
  begins.map((hour) => ({ namespace, at: at(`${String(hour).padStart(2, "0")}:00`), cost: cost(cpu) }));
export const from = (begin: string, end: string, cpu: number) => ({ from: at(begin), to: at(end), ...cost(cpu) });
export const living = (name: string, created: string) =>
  environmentFixture({
    metadata: { name, uid: `uid-${name}`, creationTimestamp: created },
    status: { phase: "ready" },
  });
export const gone = (name: string, uid: string, [createdAt, goneAt]: readonly [string, string]): RecordSpec => ({
  name,
  uid,
  createdAt,
  goneAt,
  deletedAt: goneAt,
  reason: "deleted",
  teardownSeconds: 0,
});

/** Consecutive processes with the same environments and records. */
export function allocationScene(resolutionHours = 1) {
  const clock = new TestClock(at("12:20"));
  const costMonitor = memoryCostMonitor();
  const records = memoryRecords();
  const environments = new Map<string, EphemeralEnvironment>();
  const refused: Error[] = [];
  /** The watch's records, while later writes are not delivered. */
  let shown: readonly RecordSpec[] | undefined;
  const put = (...all: EphemeralEnvironment[]) => {
    for (const one of all) environments.set(one.metadata.name, one);
  };
  const dependencies: CostAllocationDependencies = {
    settings: { ...fixtureSettings, costs: { ...fixtureSettings.costs, openCost: { url: "", resolutionHours } } },
    caches: {
      environments: { list: () => [...environments.values()] },
      records: { list: () => (shown ?? records.list()).map((spec) => ({ spec }) as EnvironmentRecord) },
    },
    environment: (name: string) => environments.get(name),
    environments: { reread: async ({ metadata }: EphemeralEnvironment) => environments.get(metadata.name) },
    statusWriter: {
      async writeStatus(environment: EphemeralEnvironment, status: EphemeralEnvironment["status"]) {
        const error = refused.shift();
        if (error !== undefined) throw error;
        const stored = { ...environment, ...(status && { status }) };
        put(stored);
        return stored;
      },
    },
    records,
    costMonitor,
    clock,
    log: silentLog,
  };
  const start = () => {
    const { reconcile, initialKeys } = costAllocationController(dependencies);
    const [key = ""] = initialKeys();
    return () => reconcile(key, { signal: new AbortController().signal, requeueUrgently: () => undefined });
  };
  const allocated = (name: string) => environments.get(name)?.status?.allocations;
  const recorded = (uid: string) => records.list().find((one) => one.uid === uid)?.allocations;
  const stopWatch = () => {
    shown = records.list();
  };
  return {
    dependencies,
    clock,
    costMonitor,
    records,
    environments,
    refused,
    put,
    start,
    allocated,
    recorded,
    stopWatch,
  };
}
