import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { recordManifest } from "../../../crds/environment/environment-record.ts";
import { namespaceName } from "../../../crds/names.ts";
import { recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { prometheusMetrics } from "../../../operator/adapters/prometheus/metrics.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { type OpenCostServer, startOpenCostServer } from "../../support/doubles/opencost-server.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

const HOUR = 3_600_000;
const NAMESPACE = "ephemeral-system";

let world: World;
let openCost: OpenCostServer;
beforeAll(async () => {
  [world, openCost] = await Promise.all([createWorld(), startOpenCostServer()]);
}, 180_000);
afterAll(async () => {
  await world.stop();
  await openCost.stop();
}, 60_000);

const instant = (ms: number) => new Date(ms).toISOString();
const cost = (cpu: number) => ({ cpu, memory: 20, storage: 0, other: 1 });

test("what OpenCost allocated is kept with environments, in their records, and beside records of before", async () => {
  const name = unique("charged-");
  const quiet = await world.startOperator();
  await world.create(name, { ...backendOnly, ttlHours: 24 });
  const { metadata } = await world.expectPhase(name, "ready");
  await quiet.stop();

  const createdMs = Date.parse(metadata.creationTimestamp);
  const hourMs = Math.floor(createdMs / HOUR) * HOUR;
  const [begin, end] = [instant(createdMs), instant(hourMs + HOUR)];
  // Gone before the environment was created, so that they have no hour in common.
  const [formerMs, formerEndMs] = [hourMs - 3 * HOUR, hourMs - HOUR];
  const former = {
    name,
    uid: randomUUID(),
    reason: "deleted" as const,
    teardownSeconds: 0,
    createdAt: instant(formerMs),
    deletedAt: instant(formerEndMs),
    goneAt: instant(formerEndMs),
  };
  await world.admin.create(recordType, recordManifest(former, NAMESPACE));
  openCost.knows(
    { namespace: namespaceName(name), at: instant(hourMs), cost: cost(100) },
    { namespace: namespaceName(name), at: instant(formerMs), cost: cost(1) },
    { namespace: namespaceName(name), at: instant(formerMs + HOUR), cost: cost(2) },
  );

  const settings = settingsFrom({ ...testSettings, costs: { openCost: { url: openCost.url } } });
  const clock = { ...systemClock, now: () => new Date(Date.now() + 2 * HOUR) };
  const metrics = prometheusMetrics();
  await world.startOperator({ settings, clock, metrics });
  const isCharged = ({ status }: { readonly status?: { readonly allocations?: object } }) =>
    status?.allocations !== undefined;
  const charged = await world.expectState(name, "with what was allocated to it", isCharged);
  expect(charged.status?.allocations).toEqual([{ from: begin, to: end, ...cost(100) }]);

  const recorded = (uid: string) => world.admin.find(recordType, { name: uid, namespace: NAMESPACE });
  // An hour before midnight is another segment than one after it.
  const allocated = async () => {
    const { allocations = [] } = (await recorded(former.uid))?.status ?? {};
    return allocations.reduce((sum, { cpu }) => sum + cpu, 0);
  };
  await until(async () => (await allocated()) === 3, { what: "the record's allocations", deadlineMs: 30_000 });

  await world.delete(charged);
  await world.expectGone(charged);
  expect((await recorded(metadata.uid))?.spec.allocations).toEqual(charged.status?.allocations);
  const { text } = await metrics.scrape();
  expect(text).toMatch(/ephemeral_service_calls_total\{service="opencost",operation="byNamespace",outcome="ok"\} \d/);
  expect(text).toMatch(/ephemeral_controller_last_success_timestamp_seconds\{controller="cost allocation"\} \d/);
}, 240_000);
