import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type EphemeralEnvironment, hasFinalizer } from "../../../crds/environment/ephemeral-environment.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { isWrite, type RequestInterceptor } from "../../../operator/kit/client/request.ts";
import { type Lease, leases } from "../../../operator/kit/leader/leader-election.ts";
import { concernedAmong } from "../../support/faults/request-interceptors.ts";
import { completeInventory, writtenVersion } from "../../support/fixtures/environment/environment-inventory.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { type HttpsServer, startHttpsServer } from "../../support/http/https-server.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/http/token-issuer.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";
import { COMMIT, createWorld, podSecretRef, type World } from "../../support/worlds/environment-world.ts";

/** Deadline of waits for a leader: a lease of 15 seconds has to run out before another replica takes it. */
const LEADER_DEADLINE_MS = 60_000;

const lease = { name: "platform", namespace: "ephemeral-system" };

let world: World;
let ingress: HttpsServer;
let issuer: TokenIssuer;
let replicas: PlatformProcess[] = [];
let made = 0;

beforeAll(async () => {
  world = await createWorld();
  ingress = await startHttpsServer(["DNS:*.env.localhost"], (_request, reply) => reply.end("ok"));
  issuer = await startTokenIssuer();
}, 180_000);
afterAll(async () => {
  await issuer.stop();
  await ingress.stop();
  await world.stop();
}, 60_000);

function replica(changed: object): Promise<PlatformProcess> {
  return platformProcess(world.identity, {
    ...testSettings,
    ingressAddress: ingress.address,
    ingressCaFile: ingress.caFile,
    api: {
      issuers: [{ issuer: issuer.issuer, audience: AUDIENCE, roles: { maintainer: ["maintainers"] } }],
      limits: { authenticatedPerMinute: 1e5 },
    },
    ...changed,
  });
}

async function startTwo(changed: object): Promise<void> {
  replicas = await Promise.all([replica(changed), replica(changed)]);
  await Promise.all(replicas.map((one) => one.start()));
  for (const { url } of replicas) {
    const isReady = async () => (await fetch(`${url}/api/ready`)).ok;
    await until(isReady, { what: "a replica being ready", deadlineMs: 30_000 });
  }
}

afterEach(async () => {
  await Promise.all(replicas.splice(0).map((one) => one.stop()));
  // A killed leader would hold the lease for 15 s more.
  await world.admin.delete(leases, lease);
}, 30_000);

function createSome(count: number): Promise<EphemeralEnvironment[]> {
  const names = Array.from({ length: count }, () => `available-${++made}`);
  return Promise.all(names.map((name) => world.create(name)));
}

async function expectComplete({ metadata }: EphemeralEnvironment): Promise<void> {
  const ready = await world.expectPhase(metadata.name, "ready");
  const inventory = await world.inventory(ready);
  expect([...inventory.keys()].sort()).toEqual(completeInventory(ready));
  const store = [...inventory].find(([title]) => title.startsWith("store/"))?.[1];
  const pods = await world.admin.find(secretKind, podSecretRef(metadata.name));
  const values = Object.entries((pods?.data ?? {}) as Record<string, string>);
  expect(Object.fromEntries(values.map(([name, value]) => [`${name}.1`, value]))).toEqual(store?.data);
}

const written = async (environment: EphemeralEnvironment) =>
  new Map([...(await world.inventory(environment))].map(([title, object]) => [title, writtenVersion(object)]));

const isWorkedOn = async ({ metadata }: EphemeralEnvironment) => {
  const found = await world.find(metadata.name);
  return found !== undefined && hasFinalizer(found);
};

describe("with leader election", () => {
  let leader: PlatformProcess;
  let follower: PlatformProcess;

  beforeEach(async () => {
    await startTwo({ leaderElection: true });
    const leads = (one: PlatformProcess) => one.output.includes('"message":"leading"');
    leader = await until(() => replicas.find(leads), { what: "a leader", deadlineMs: LEADER_DEADLINE_MS });
    follower = replicas.find((one) => one !== leader) as PlatformProcess;
    expect(leads(follower)).toBe(false);
  }, 120_000);

  const holder = async () => (await world.admin.find(leases, lease))?.spec?.holderIdentity ?? "";

  /** Ends the leader during creations; answers these, once the next leader works. */
  async function handOver(end: (one: PlatformProcess) => unknown) {
    const former = await holder();
    const underWay = await createSome(6);
    await until(() => isWorkedOn(underWay[0] as EphemeralEnvironment), { what: "work in progress" });
    const ended = end(leader);
    const within = (what: string) => ({ what, deadlineMs: LEADER_DEADLINE_MS });
    await until(async () => !["", former].includes(await holder()), within("the next leader's lease"));
    // Created after the former's leadership: a worker on it is the next leader.
    const [after] = (await createSome(1)) as [EphemeralEnvironment];
    await until(() => isWorkedOn(after), within("the next leader's work"));
    expect(follower.output).toContain('"message":"leading"');
    return { exitCode: await ended, environments: [...underWay, after] };
  }

  /** Every record of the lease after this version of it, up to the first one of another holder. */
  async function recordsUntilNext({ metadata, spec }: Lease): Promise<readonly Lease["spec"][]> {
    const records: Lease["spec"][] = [];
    const { namespace } = lease;
    const signal = AbortSignal.timeout(LEADER_DEADLINE_MS);
    const options = { namespace, resourceVersion: metadata.resourceVersion, timeoutSeconds: 60, signal };
    for await (const { object } of world.admin.watch(leases, options)) {
      if (object.metadata.name !== lease.name) continue;
      records.push(object.spec);
      if (!["", spec?.holderIdentity].includes(object.spec?.holderIdentity)) break;
    }
    return records;
  }

  test("a leader that is asked to stop gives its lease back, the other replica takes it, and creation goes on", async () => {
    const held = (await world.admin.find(leases, lease)) as Lease;
    const { exitCode, environments } = await handOver((one) => one.terminate());
    const records = await recordsUntilNext(held);
    // Without a release, the other replica would take the lease from its former holder.
    expect(records.at(-2)).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1 });
    expect(records.at(-1)?.leaseTransitions).toBe((held.spec?.leaseTransitions ?? 0) + 1);
    expect(exitCode).toBe(0);
    await Promise.all(environments.map(expectComplete));
  }, 60_000);

  test("a leader that is killed is followed once its lease has run out, and creation goes on", async () => {
    const held = (await world.admin.find(leases, lease)) as Lease;
    const { environments } = await handOver((one) => one.kill());
    const [next, last = held.spec] = (await recordsUntilNext(held)).toReversed();
    const heldForMs = Date.parse(next?.acquireTime ?? "") - Date.parse(last?.renewTime ?? "");
    expect(heldForMs).toBeGreaterThanOrEqual((last?.leaseDurationSeconds ?? Number.NaN) * 1000);
    expect(next?.leaseTransitions).toBe((held.spec?.leaseTransitions ?? 0) + 1);
    await Promise.all(environments.map(expectComplete));
  }, 90_000);

  test("a leader that was suspended past its lease writes nothing more, and ends", async () => {
    const environments = await createSome(4);
    await until(() => isWorkedOn(environments[0] as EphemeralEnvironment), { what: "work in progress" });
    const former = await holder();
    leader.suspend();
    await until(async () => (await holder()) !== former, { what: "the next leader", deadlineMs: LEADER_DEADLINE_MS });
    await Promise.all(environments.map(expectComplete));
    const before = await Promise.all(environments.map(written));
    leader.resume();
    expect(await leader.ended()).toBe(1);
    expect(await Promise.all(environments.map(written))).toEqual(before);
  }, 90_000);

  test("both answer reads from their own caches, and each knows at once what the other made", async () => {
    const bearer = `Bearer ${await issuer.sign({ sub: "mai", email: "mai@example.test", groups: ["maintainers"] })}`;
    const call = async (one: PlatformProcess, path: string, body?: object) => {
      const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      const headers = { authorization: bearer, "content-type": "application/json" };
      const reply = await fetch(`${one.url}/api/environments${path}`, { ...options, headers });
      return { status: reply.status, body: (await reply.json()) as { environment?: { id: string }; total?: number } };
    };
    for (let round = 0; round < 10; round++) {
      const [writer, reader] = round % 2 === 0 ? [leader, follower] : [follower, leader];
      const environment_name = `available-${++made}`;
      const { body } = await call(writer, "", {
        environment_name,
        backend_repo: "test-backend",
        backend_branch: "main",
        backend_commit: COMMIT,
      });
      expect((await call(reader, `/${body.environment?.id}`)).status).toBe(200);
    }
    const known = await call(leader, "");
    await until(async () => (await call(follower, "")).body.total === known.body.total, { what: "equal caches" });
  }, 60_000);
});

test("a leader that loses its lease in the midst of a pass sends no further write, and the next one completes the work", async () => {
  const reached = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const answered: string[] = [];
  // Environments of other tests may still be in progress.
  const concerned = concernedAmong([`available-${made + 1}`]);
  const onRequest: RequestInterceptor = async (request, next) => {
    if (!isWrite(request.verb) || concerned(request) === undefined) return next();
    if (request.type?.kind === "Secret") {
      reached.resolve();
      await held.promise;
    }
    const answer = await next();
    answered.push(request.path);
    return answer;
  };
  const former = await world.startOperator({ onRequest });
  const [environment] = (await createSome(1)) as [EphemeralEnvironment];
  await reached.promise;
  const ended = former.abandon();
  const before = [...answered];
  held.resolve();
  await ended;
  expect(before.length).toBeGreaterThan(0);
  expect(answered).toEqual(before);
  const next = await world.startOperator();
  await expectComplete(environment);
  await next.stop();
}, 60_000);

test("without leader election two at once do no harm: one of everything, and one set of secrets", async () => {
  await startTwo({ leaderElection: false });
  const environments = await createSome(8);
  await Promise.all(environments.map(expectComplete));
  await Promise.all(environments.map(world.delete));
  await Promise.all(environments.map(world.expectGone));
}, 120_000);
