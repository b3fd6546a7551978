import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { ask } from "../support/api.ts";
import { childrenOf, create, Environments, find, madeFor, untilGone, untilReady } from "../support/environments.ts";
import {
  deploy,
  imageByDigest,
  installed,
  reachService,
  refusedRemoval,
  uninstall,
  values,
} from "../support/installation/installation.ts";
import { logs, namespace, type Replica, replicas } from "../support/installation/replicas.ts";
import { list, type Resource, read, waitFor } from "../support/kubectl.ts";
import { open } from "../support/page.ts";
import { TEST_DEADLINE_MS } from "../support/site.ts";
import { waitUntil } from "../support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const RESIDENT_MEBIBYTES = 150;
const OF_THE_RELEASE = "--selector=app.kubernetes.io/instance=platform";

const environments = new Environments();
/** The fields of the gate's Deployment that the tests read. */
interface Gate {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  readonly status: object;
}

let upgraded: { readonly name: string; readonly id: string; readonly children: readonly string[] };

beforeAll(() => installed(values()));
afterAll(() => environments.removeAll());

test("helm install runs two replicas of exactly the image that was built, one of which leads", async () => {
  const pods = await replicas();
  for (const { spec, status } of pods) {
    expect(spec.containers.map(({ image }) => image)).toEqual([imageByDigest]);
    expect(status.containerStatuses).toMatchObject([{ imageID: imageByDigest, restartCount: 0 }]);
  }
  const leading = await Promise.all(pods.map((pod) => metric(pod, 'leader_election_master_status{name="platform"}')));
  expect(leading.toSorted()).toEqual([0, 1]);
});

test("a replica is ready soon, and idle below 150 MiB", async () => {
  const pods = await replicas();
  const resident = await Promise.all(pods.map((pod) => metric(pod, "process_resident_memory_bytes")));
  const mebibytes = resident.map((bytes) => Math.round(bytes / 2 ** 20));
  const lines = (await logs("--tail=-1")).split("\n");
  const seconds = pods.map((pod) => `${secondsToServing(pod, lines).toFixed(1)} s (ready ${secondsToReady(pod)} s)`);
  console.log(`replicas listen after at most ${seconds.join(" and ")}, and have ${mebibytes.join(" and ")} MiB`);
  for (const each of mebibytes) expect(each).toBeLessThan(RESIDENT_MEBIBYTES);
});

test("the gate answers in pods of its own for hosts of no environment, behind the wildcard that every host of one outranks", async () => {
  const gate = await read<Gate>("deployment", "gate", `--namespace=${namespace}`);
  expect(gate.status).toMatchObject({ readyReplicas: 2, updatedReplicas: 2 });
  expect(gate.spec.template.spec.containers.map(({ image }) => image)).toEqual([imageByDigest]);
  const page = await open(`https://${environments.name("nothing")}.env.localhost:18443/`);
  expect(page).toMatchObject({ status: 404, body: expect.stringContaining("No environment answers at this address") });
});

test("a developer creates an environment through the Service, reads its logs, extends it, has it sleep and wake, and deletes it", async () => {
  const name = environments.name("installed");
  const id = await create(name);
  const { status } = await untilReady(name);
  const [backend = "", frontend = ""] = [status?.urls?.backend, status?.urls?.frontend];
  for (const url of [backend, frontend]) expect((await open(url)).status).toBe(200);
  const checked = await ask("GET", `/environments/${id}/check-all-urls`);
  expect(checked).toMatchObject({ status: 200, body: { status: "healthy" } });
  const { body: reported } = await ask<{ logs: readonly { message: string }[] }>(
    "GET",
    `/environments/${id}/logs/backend`,
  );
  expect(reported.logs.map(({ message }) => message)).toContain("listening");

  const extended = await ask<{ environment: { expires_at: string } }>("PUT", `/environments/${id}`, {
    body: { ttl_hours: 3 },
  });
  expect(extended).toMatchObject({ status: 200, body: { environment: { ttl_hours: 3 } } });
  const expiresAt = Date.parse(extended.body.environment.expires_at);
  expect(expiresAt - Date.parse(status?.expiresAt ?? "")).toBe(2 * 3_600_000);

  await suspend(id, true);
  await waitFor(["--for=condition=Suspended", `eenv/${name}`]);
  const isAsleep = async () => (await open(backend)).status !== 200;
  await waitUntil({ what: `the end of the answers of '${name}'`, check: isAsleep, deadlineMs: 60_000, pollMs: 500 });
  await suspend(id, false);
  const isAwake = async () => !(await find(name)).status?.conditions?.some(({ type }) => type === "Suspended");
  await waitUntil({ what: `the waking of '${name}'`, check: isAwake, deadlineMs: 60_000, pollMs: 500 });
  await untilReady(name);
  expect((await open(backend)).status).toBe(200);

  expect((await ask("DELETE", `/environments/${id}`)).status).toBe(200);
  await untilGone(name);
  expect(await madeFor(id)).toEqual([]);
});

test("helm upgrade brings other pods, and touches nothing of an environment", async () => {
  const name = environments.name("kept");
  const id = await create(name);
  await untilReady(name);
  const children = await childrenOf(id);
  const before = await replicas();

  await deploy("upgrade", values({ image: { digest: "" }, settings: { ttl: { maximumHours: 100 } } }));
  const after = await replicas();
  const uids = new Set(before.map(({ metadata }) => metadata.uid));
  expect(after.filter(({ metadata }) => uids.has(metadata.uid))).toEqual([]);
  await untilReady(name);
  expect(await childrenOf(id)).toEqual(children);
  upgraded = { name, id, children };
});

test("helm uninstall is refused while there is an environment; without its hooks it leaves kinds, environments and their children, and a second installation goes on with them", async () => {
  const { name, id, children } = upgraded;
  expect(await refusedRemoval()).toContain(`${name}: delete them first`);
  expect((await replicas()).length).toBe(2);

  await uninstall("--no-hooks");
  expect(
    await list("deployments,services,configmaps,serviceaccounts,rolebindings", "--all-namespaces", OF_THE_RELEASE),
  ).toEqual([]);
  expect(await list("clusterroles,clusterrolebindings,validatingadmissionpolicies", OF_THE_RELEASE)).toEqual([]);
  expect((await list("crd", OF_THE_RELEASE)).length).toBeGreaterThan(5);
  expect(await childrenOf(id)).toEqual(children);

  await deploy("install", values());
  await reachService();
  const shown = await ask("GET", `/environments/${id}`);
  expect(shown.body).toMatchObject({ id, name, status: "ready" });
  expect((await ask("DELETE", `/environments/${id}`)).status).toBe(200);
  await untilGone(name);
  expect(await madeFor(id)).toEqual([]);
});

async function suspend(id: string, suspended: boolean): Promise<void> {
  const reply = await ask("PATCH", `/v2/environments/${id}`, { body: { suspended } });
  expect(reply).toMatchObject({ status: 200, body: { data: { suspended } } });
}

/** Time until the kubelet has seen it ready. Kubernetes records both times without fractions. */
function secondsToReady({ status }: Replica): number {
  const ready = status.conditions.find(({ type }) => type === "Ready")?.lastTransitionTime ?? "";
  return (Date.parse(ready) - startedAtMs(status)) / 1000;
}

/** Time until its log says that it serves; up to a second less, because the start has no fractions. */
function secondsToServing({ metadata, status }: Resource<Replica>, lines: readonly string[]): number {
  const line = lines.find((text) => text.includes(metadata.name) && text.includes('"message":"serving"')) ?? "";
  const { time } = JSON.parse(line.slice(line.indexOf("{"))) as { time: string };
  return (Date.parse(time) - startedAtMs(status)) / 1000;
}

function startedAtMs({ containerStatuses }: Replica["status"]): number {
  return Date.parse(containerStatuses[0]?.state.running?.startedAt ?? "");
}

async function metric({ status }: Replica, name: string): Promise<number> {
  const reply = await fetch(`http://${status.podIP}:9090/metrics`, { signal: AbortSignal.timeout(10_000) });
  const line = (await reply.text()).split("\n").find((text) => text.startsWith(`${name} `));
  if (line === undefined) throw new Error(`${namespace}: a replica has no ${name}`);
  return Number(line.slice(name.length + 1));
}
