import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { DAY_MS, HOUR_MS } from "../../../crds/durations.ts";
import { type RecordSpec, recordManifest } from "../../../crds/environment/environment-record.ts";
import { midnightOf } from "../../../crds/usage/period-summary.ts";
import { recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesRollupStore } from "../../../operator/adapters/kubernetes/records/rollups.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/http/token-issuer.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

const NAMESPACE = "ephemeral-system";
const timeAt = (ms: number) => new Date(ms).toISOString();
/** Midnight (UTC) that many days ago. Records of more than 90 days ago would be dropped during the test. */
const daysAgo = (days: number) => midnightOf(Date.now() - days * DAY_MS);
const [FROM_MS, TO_MS] = [daysAgo(40), daysAgo(10)];
const PERIOD = `from=${timeAt(FROM_MS)}&to=${timeAt(TO_MS)}`;
/** Routes with figures of a past period, by resources alone. */
const FIGURES = ["observability/costs/dashboard", "observability/costs/summary", "observability/slo/status"];
/** Request counts are stored every ten seconds. */
const STORED_MS = 30_000;

let world: World;
let issuer: TokenIssuer;
let bearer: string;
const processes: PlatformProcess[] = [];

beforeAll(async () => {
  [world, issuer] = await Promise.all([createWorld(), startTokenIssuer()]);
  bearer = await issuer.sign({ sub: "mai", email: "mai@example.test", groups: ["maintainers"] });
}, 180_000);
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()));
  await issuer.stop();
  await world.stop();
}, 60_000);

/** An environment of six hours. */
function record(createdMs: number, cpuMillicores: number): RecordSpec {
  const [createdAt, goneAt] = [timeAt(createdMs), timeAt(createdMs + 6 * HOUR_MS)];
  return {
    name: "gone",
    uid: randomUUID(),
    reason: "expired",
    createdAt,
    deletedAt: goneAt,
    goneAt,
    teardownSeconds: 20,
    readyAt: timeAt(createdMs + 4e4),
    usage: [{ since: createdAt, cpuMillicores, memoryMebibytes: 1024, storageMebibytes: 0 }],
    components: { backend: { repository: "test-backend", branch: "main", commit: "" } },
  };
}

async function replica(): Promise<PlatformProcess> {
  const issuers = [{ issuer: issuer.issuer, audience: AUDIENCE, roles: { maintainer: ["maintainers"] } }];
  const settings = { ...testSettings, leaderElection: true, api: { issuers } };
  const started = await platformProcess(world.identity, settings);
  processes.push(started);
  await started.start();
  return started;
}

const untilReady = ({ probesUrl }: PlatformProcess) =>
  until(async () => (await fetch(`${probesUrl}/readyz`)).ok, { what: "the replica being ready", deadlineMs: 30_000 });

async function ask({ url }: PlatformProcess, path: string) {
  const reply = await fetch(`${url}/api/${path}`, { headers: { authorization: `Bearer ${bearer}` } });
  expect({ path, status: reply.status }).toEqual({ path, status: 200 });
  return (await reply.json()) as { readonly data: Readonly<Record<string, unknown>> };
}

/** Figures without fields that depend on the time of the request, and without request counts. */
async function figuresOf(one: PlatformProcess) {
  const replies = await Promise.all(FIGURES.map((path) => ask(one, `${path}?${PERIOD}`)));
  const [dashboard, summary, levels] = replies.map(({ data }) => data);
  const { projected_month: _, ...costs } = summary ?? {};
  const { by_repository, by_creator, by_config_set, timeseries, top_environments } = dashboard ?? {};
  const objectives = (levels?.objectives ?? []) as readonly { readonly id: string }[];
  return {
    costs,
    by_repository,
    by_creator,
    by_config_set,
    timeseries,
    top_environments,
    objectives: objectives.filter(({ id }) => ["creation", "deletion", "expiry"].includes(id)),
  };
}

async function storedRequests(): Promise<number> {
  const store = kubernetesRollupStore({ client: world.admin, namespace: NAMESPACE });
  const days = await store.list(AbortSignal.timeout(5_000));
  const slots = days.flatMap(({ slots: ofDay }) => Object.values(ofDay));
  return slots.reduce((sum, counts) => sum + (counts.requests ?? 0), 0);
}

const untilStored = (requests: number) =>
  until(async () => (await storedRequests()) >= requests, { what: "the requests stored", deadlineMs: STORED_MS });

test("a kill, a restart and a second replica change no figure, and no request is counted twice", async () => {
  // Over midnight, and over the end of the period.
  for (const spec of [record(FROM_MS + 10 * DAY_MS - 2 * HOUR_MS, 500), record(TO_MS - 4 * HOUR_MS, 2_000)])
    await world.admin.create(recordType, recordManifest(spec, NAMESPACE));
  const first = await replica();
  await untilReady(first);
  const reported = await figuresOf(first);
  expect(reported.costs).toMatchObject({ average_cost_per_environment: expect.any(Number) });
  let requested = FIGURES.length;
  const askOften = async (one: PlatformProcess, times: number) => {
    for (let time = 0; time < times; time += 1) await ask(one, "repos");
    requested += times;
  };
  await askOften(first, 20);
  await untilStored(requested);

  const second = await replica();
  await untilReady(second);
  expect(await figuresOf(second)).toEqual(reported);
  requested += FIGURES.length;
  await askOften(second, 5);
  await untilStored(requested);

  await first.kill();
  expect(await figuresOf(second)).toEqual(reported);
  requested += FIGURES.length;
  await first.start();
  await untilReady(first);
  expect(await figuresOf(first)).toEqual(reported);
  requested += FIGURES.length;
  await askOften(first, 3);
  await untilStored(requested);
  expect(await storedRequests()).toBe(requested);
}, 240_000);
