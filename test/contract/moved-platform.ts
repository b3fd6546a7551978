import { expect } from "@jest/globals";
import type { Condition } from "../../crds/conditions.ts";
import type { EnvironmentRecord } from "../../crds/environment/environment-record.ts";
import type { EnvironmentStatus } from "../../crds/environment/ephemeral-environment.ts";
import { requestedOf, usageAfter } from "../../crds/usage/usage.ts";
import { environmentRecord } from "../../operator/controllers/environment/deletion/record.ts";
import { summarizeDays } from "../../operator/rollups/daily-summaries.ts";
import { memoryRollupStore } from "../support/doubles/memory/costs/rollups.ts";
import type { ApiService, Person } from "../support/http/api-service.ts";

const never = new AbortController().signal;

/** Users' calls of the REST interface, and the operator's effects. */
export type Platform = ReturnType<typeof platformOf>;

export function platformOf(service: ApiService) {
  const store = memoryRollupStore();
  const recorded = () => service.records.list().map((spec) => ({ spec }) as EnvironmentRecord);
  const summarize = () =>
    summarizeDays({
      clock: service.clock,
      rollupDays: service.rollups,
      rollupStore: store,
      caches: {
        environments: { list: () => service.environments.list() },
        records: { list: recorded },
      } as unknown as Parameters<typeof summarizeDays>[0]["caches"],
    })(never);

  async function call(person: Person, method: "post" | "put" | "patch" | "delete", path: string, body: object = {}) {
    const reply = await service.http[method](path)
      .set("authorization", await service.bearer(person))
      .send(body);
    expect({ path, status: reply.status, refused: reply.body.detail }).toMatchObject({ path, refused: undefined });
  }
  const found = async (name: string) => {
    const environment = await service.environments.find(name);
    if (environment === undefined) throw new Error(`there is no environment ${name}`);
    return environment;
  };
  const observe = async (name: string, status: Partial<EnvironmentStatus>) => {
    const environment = await found(name);
    const { generation } = environment.metadata;
    service.environments.put({
      ...environment,
      status: { phase: "creating", ...environment.status, observedGeneration: generation, ...status },
    });
  };
  const ready = (status: "True" | "False", reason: string): Condition => ({
    type: "Ready",
    status,
    reason,
    message: "",
    lastTransitionTime: service.clock.now().toISOString(),
  });
  return {
    /** Sums up days that end meanwhile. */
    async at(instant: string) {
      service.clock.advance(Date.parse(instant) - service.clock.now().getTime());
      await summarize();
    },
    creates: (person: Person, name: string, backend_repo: string, ttl: number) =>
      call(person, "post", "/api/environments", { environment_name: name, backend_repo, backend_branch: "main", ttl }),
    extends: (person: Person, name: string, ttl_hours: number) =>
      call(person, "put", `/api/environments/${name}`, { ttl_hours }),
    suspends: (person: Person, name: string, suspended: boolean) =>
      call(person, "patch", `/api/v2/environments/${name}`, { suspended }),
    deletes: (person: Person, name: string) => call(person, "delete", `/api/environments/${name}`),
    /** Changes the requests in its ResourceQuota. */
    async requests(name: string, cpu: string, memory: string, storage: string) {
      const used = { "requests.cpu": cpu, "requests.memory": memory, "requests.storage": storage };
      const { status } = await found(name);
      await observe(name, { usage: usageAfter(status?.usage, requestedOf(used), service.clock.now()) ?? [] });
    },
    becomesReady: (name: string) =>
      observe(name, {
        phase: "ready",
        readyAt: service.clock.now().toISOString(),
        conditions: [ready("True", "Ready")],
      }),
    fails: (name: string, reason: string) => observe(name, { phase: "failed", conditions: [ready("False", reason)] }),
    expires: async (name: string) => void (await service.environments.remove(await found(name))),
    async isGone(name: string) {
      const goneAt = service.clock.now();
      await service.records.keep(environmentRecord(await found(name), { steps: [], goneAt, services: [] }));
      service.environments.finishRemoval(name);
    },
    /** Drops old records: the sums of days remain. */
    async forgetsRecords() {
      for (const { day, summary } of await store.list(never)) {
        if (summary !== undefined) service.rollups.sumUp(day, summary);
      }
      service.records.forget();
    },
  };
}
