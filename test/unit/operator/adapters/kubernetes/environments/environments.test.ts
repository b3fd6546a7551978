import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { markAnnotations } from "../../../../../../crds/environment/idempotency-record.ts";
import {
  ClusterUnavailable,
  ConfigInvalid,
  DomainError,
  EnvironmentConflict,
  NameExists,
} from "../../../../../../crds/errors.ts";
import { AUDIT_ID_ANNOTATION, RECONCILE_ANNOTATION } from "../../../../../../crds/group.ts";
import { kubernetesEnvironments } from "../../../../../../operator/adapters/kubernetes/environments/environments.ts";
import { environmentType } from "../../../../../../operator/adapters/kubernetes/kinds.ts";
import { createObjectCache } from "../../../../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ObjectCache } from "../../../../../../operator/kit/cache/object-cache.ts";
import { createKubeClient } from "../../../../../../operator/kit/client/create-kube-client.ts";
import { KubeError } from "../../../../../../operator/kit/client/errors.ts";
import type { KubeClient } from "../../../../../../operator/kit/client/kube-client.ts";
import { ownDeletions } from "../../../../../../operator/kit/client/own-deletions.ts";
import { silentLog } from "../../../../../../operator/kit/log.ts";
import { BY_CREATION_KEY, BY_UID } from "../../../../../../operator/ports/caches.ts";
import { RemovalRefused } from "../../../../../../operator/ports/environments.ts";
import type { Environments } from "../../../../../../operator/ports/facade/environments.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  reset,
  type SeenRequest,
  startFakeApiServer,
  status,
} from "../../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment-fixture.ts";
import { until } from "../../../../../support/fixtures/until.ts";

const environment = environmentFixture();
const UNKNOWN = "ffffffff-1111-4222-8333-444455556666";

let server: FakeApiServer;
let client: KubeClient;
let cache: ObjectCache<EphemeralEnvironment> & CacheFeed<EphemeralEnvironment>;
let clock: TestClock;
let environments: Environments;

beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
  clock = new TestClock();
  cache = createObjectCache<EphemeralEnvironment>({
    log: silentLog,
    clock,
    indexes: { [BY_UID]: ({ metadata }) => [metadata.uid], [BY_CREATION_KEY]: () => [] },
  });
  environments = kubernetesEnvironments({ client, cache, clock, deletions: ownDeletions() });
});

afterEach(async () => {
  await client.close();
  await server.close();
});

const answer = (method: string, given: Answer) => server.on((request) => request.method === method, given);
const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);

describe("a removal that the API server forbids", () => {
  beforeEach(() => answer("DELETE", status(403, "Forbidden")));

  test("is a conflict when the environment is protected now, whatever was read before", async () => {
    answer("GET", json(environmentFixture({ spec: { protected: true } })));
    expect(await failureOf(environments.remove(environment))).toBeInstanceOf(EnvironmentConflict);
  });

  test("is a conflict of its own when it is not protected: a policy or a missing right forbids it", async () => {
    answer("GET", json(environment));
    const error = await failureOf(environments.remove(environmentFixture({ spec: { protected: true } })));
    expect(error).toBeInstanceOf(RemovalRefused);
    // What callers are told holds nothing of what the API server says.
    expect((error as RemovalRefused).message).not.toContain((error as RemovalRefused).why);
    expect((error as Error).cause).toMatchObject({ status: 403, reason: "Forbidden" });
  });

  test("is none when the environment is gone, or its name has passed to another", async () => {
    answer("GET", json(environmentFixture({ metadata: { uid: UNKNOWN } })));
    expect(await environments.remove(environment)).toBe("removing");
    expect(await environments.remove(environment, { onlyThisVersion: true })).toBe("changed");
  });
});

describe("a removal is remembered as ours", () => {
  const { uid } = environment.metadata;
  const leaving = environmentFixture({ metadata: { deletionTimestamp: "2026-01-01T01:00:00Z", resourceVersion: "2" } });
  const changed = environmentFixture({ metadata: { resourceVersion: "2" } });
  const successor = environmentFixture({ metadata: { uid: UNKNOWN } });

  test.each([
    { name: "once it has begun", given: [json(leaving)], remembered: true },
    {
      name: "once it has begun, if at the second attempt",
      given: [status(409, "Conflict"), json(leaving)],
      remembered: true,
    },
    {
      name: "never when only an older version was to go",
      given: [status(409, "Conflict")],
      only: true,
      remembered: false,
    },
    { name: "never when its name is another's", given: [status(409, "Conflict")], there: successor, remembered: false },
    { name: "never when it was forbidden", given: [status(403, "Forbidden")], remembered: false },
  ])("$name", async ({ given, only = false, there = changed, remembered }) => {
    server.on(({ method }) => method === "DELETE", ...given);
    answer("GET", json(there));
    const deletions = ownDeletions();
    const remembering = kubernetesEnvironments({ client, cache, clock, deletions });
    await failureOf(remembering.remove(environment, { onlyThisVersion: only }));
    expect(deletions.has(uid)).toBe(remembered);
  });
});

test("an extension that the API server forbids is a fault with its cause", async () => {
  answer("PATCH", status(403, "Forbidden"));
  expectFault(await failureOf(environments.extend(environment, { ttlHours: 48 })));
});

describe("changes of an environment", () => {
  const extend = (ttlHours: number) => environments.extend(environment, { ttlHours });

  test("at the same moment go one after the other, each on the version that the one before has left", async () => {
    let current = environment;
    server.on(
      ({ method }) => method === "PATCH",
      (request, response) => {
        const { metadata, spec } = JSON.parse(request.body);
        const isLatest = metadata.resourceVersion === current.metadata.resourceVersion;
        if (isLatest) {
          const resourceVersion = String(Number(metadata.resourceVersion) + 1);
          current = {
            ...current,
            metadata: { ...current.metadata, resourceVersion },
            spec: { ...current.spec, ...spec },
          };
        }
        (isLatest ? json(current) : status(409, "Conflict"))(request, response);
      },
    );
    cache.upsert(environment);
    const hours = Array.from({ length: 12 }, (_, index) => 48 + index);
    const changed = await Promise.all(hours.map(extend));
    expect(changed.map(({ spec }) => spec.ttlHours)).toEqual(hours);
    expect(server.seen).toHaveLength(12);
  });

  test("that lose every race can be tried again", async () => {
    answer("PATCH", status(409, "Conflict"));
    answer("GET", json(environment));
    expect(await failureOf(extend(48))).toBeInstanceOf(ClusterUnavailable);
  });

  test("all fail at once when the API server does not answer the first", async () => {
    answer("PATCH", reset);
    for (const failure of await Promise.all([1, 2, 3].map((hours) => failureOf(extend(hours))))) {
      expect(failure).toBeInstanceOf(ClusterUnavailable);
    }
    expect(server.seen).toHaveLength(1);
  });

  test("go on after one that was refused", async () => {
    server.on(({ method }) => method === "PATCH", status(422, "Invalid"), json(environment));
    const [refused, made] = await Promise.all([failureOf(extend(48)), extend(49)]);
    expect(refused).toBeInstanceOf(ConfigInvalid);
    expect(made).toEqual(environment);
  });
});

describe("an id that the cache does not know", () => {
  const { name, uid } = environment.metadata;
  const isList = ({ path }: SeenRequest) => !path.endsWith(name);
  const lists = () => server.seen.filter(isList);
  const listOf = (...items: readonly EphemeralEnvironment[]) =>
    json({ metadata: { resourceVersion: "1" }, items: items.map(({ metadata }) => ({ metadata })) });

  beforeEach(() => cache.replace({ items: new Map(), resourceVersion: "1" }, cache.beginList()));

  test("is looked up by the metadata of all, and then read in full", async () => {
    server.on(isList, listOf(environment));
    server.on(({ path }) => path.endsWith(name), json(environment));
    expect(await environments.find(uid)).toEqual(environment);
    expect(lists()[0]?.headers.accept).toMatch(/as=PartialObjectMetadataList/);
  });

  test("is asked for by a list that began after the question, once a second for all who ask", async () => {
    server.on(isList, listOf(), listOf(environment));
    server.on(({ path }) => path.endsWith(name), json(environment));
    expect(await environments.find(uid)).toBeUndefined();
    const asked = [environments.find(uid), environments.find(uid), environments.find(UNKNOWN)];
    await until(() => clock.pending.includes(1_000));
    expect(lists()).toHaveLength(1);
    clock.advance(1_000);
    expect(await Promise.all(asked)).toEqual([environment, environment, undefined]);
    expect(lists()).toHaveLength(2);
  });

  test("is asked for by one list at a time, in pages of a thousand", async () => {
    let end = (): void => undefined;
    const slow: Answer = (request, response) => {
      end = () => listOf()(request, response);
    };
    server.on(isList, slow, listOf(environment));
    server.on(({ path }) => path.endsWith(name), json(environment));
    const first = environments.find(uid);
    await until(() => lists().length === 1);
    const second = environments.find(uid);
    clock.advance(60_000);
    // A round trip later nothing more was asked for.
    await client.find(environmentType, { name });
    expect(lists()).toHaveLength(1);
    end();
    expect([await first, await second]).toEqual([undefined, environment]);
    expect(lists().map(({ query }) => query.get("limit"))).toEqual(["1000", "1000"]);
  });

  test("is asked for again after a list that failed", async () => {
    server.on(isList, status(403, "Forbidden"), listOf(environment));
    server.on(({ path }) => path.endsWith(name), json(environment));
    expect(await failureOf(environments.find(uid))).toBeInstanceOf(Error);
    clock.advance(1_000);
    expect(await environments.find(uid)).toEqual(environment);
  });

  test("that stands for another object by the time it is read is not found", async () => {
    server.on(isList, listOf(environment));
    server.on(({ path }) => path.endsWith(name), json(environmentFixture({ metadata: { uid: UNKNOWN } })));
    expect(await environments.find(uid)).toBeUndefined();
  });
});

describe("a name that is taken", () => {
  const mark = { key: "key", request: "request" };
  const ours = environmentFixture({ metadata: { annotations: markAnnotations(mark) } });
  const create = () => environments.create(environment.metadata.name, environment.spec, mark);
  beforeEach(() => answer("POST", status(409, "AlreadyExists")));

  test("is ours when the request that comes again took it, whatever had it before", async () => {
    cache.upsert(environmentFixture({ metadata: { uid: UNKNOWN } }));
    answer("GET", json(ours));
    expect(await create()).toEqual(ours);
  });

  test("is not ours any more a day later", async () => {
    answer("GET", json(ours));
    clock.advance(Date.parse(ours.metadata.creationTimestamp) + 24 * 3_600_000 - clock.now().getTime());
    expect(await failureOf(create())).toBeInstanceOf(NameExists);
  });
});

describe("a creation whose answer got lost", () => {
  const stamped = (id: string) => environmentFixture({ metadata: { annotations: { [AUDIT_ID_ANNOTATION]: id } } });
  const create = () =>
    kubernetesEnvironments({ client, cache, clock, deletions: ownDeletions(), auditId: () => "ours" }).create(
      "shop",
      environment.spec,
    );

  test.each([
    ["was cut", reset],
    ["timed out at the API server", status(504, "Timeout")],
  ])("is one when the answer %s and the environment is there", async (_how, lost) => {
    answer("POST", lost);
    answer("GET", json(stamped("ours")));
    expect(await create()).toEqual(stamped("ours"));
    expect(cache.get("shop")).toEqual(stamped("ours"));
  });

  test.each([
    ["nothing is there", status(404, "NotFound")],
    ["what is there was made by another request", json(stamped("another"))],
    ["nobody can be asked", reset],
  ])("is none when %s", async (_what, found) => {
    answer("POST", reset);
    answer("GET", found);
    expect(await failureOf(create())).toBeInstanceOf(ClusterUnavailable);
  });

  test("is not looked for when the API server was too busy to take it", async () => {
    answer("POST", status(429, "TooManyRequests"));
    answer("GET", json(stamped("ours")));
    expect(await failureOf(create())).toBeInstanceOf(ClusterUnavailable);
    expect(server.seen.filter(({ method }) => method === "GET")).toEqual([]);
  });
});

describe("a pass that is asked for", () => {
  const withToken = (token: string, resourceVersion = "1", handled?: string) =>
    environmentFixture({
      metadata: { resourceVersion, annotations: { [RECONCILE_ANNOTATION]: token } },
      ...(handled === undefined ? {} : { status: { lastHandledReconcileAt: handled } }),
    });
  const writes = () => server.seen.filter(({ method }) => method === "PATCH");
  const now = () => clock.now().toISOString();
  const ask = (about = environment) => environments.reconcile(about, { withinMs: 1_000 });
  /** Lets the time that is waited for an answer go by, when it is waited. */
  const unanswered = async (asking: Promise<unknown>) => {
    await until(() => clock.pending.length > 0);
    clock.advance(1_000);
    return asking;
  };

  test("is one write for a flood of them", async () => {
    answer("PATCH", json(withToken(now(), "2")));
    const flood = Array.from({ length: 50 }, () => ask());
    await until(() => clock.pending.length === flood.length);
    clock.advance(1_000);
    for (const { state } of await Promise.all(flood)) expect(state).toBe("pending");
    expect(await unanswered(ask(cache.get(environment.metadata.name)))).toMatchObject({ state: "pending" });
    expect(writes()).toHaveLength(1);
  });

  test.each([
    ["asked for less than five seconds ago", 4_999, 0],
    ["asked for by a replica whose clock is ahead of ours", -4_999, 0],
    ["asked for five seconds ago", 5_000, 1],
  ])("is written as often as it must when one was %s", async (_when, agoMs, expected) => {
    answer("PATCH", json(withToken(now(), "3")));
    const token = new Date(clock.now().getTime() - agoMs).toISOString();
    await unanswered(ask(withToken(token)));
    expect(writes()).toHaveLength(expected);
  });

  test("is written over what somebody wrote by hand", async () => {
    answer("PATCH", json(withToken(now(), "3")));
    await unanswered(ask(withToken("now, please")));
    expect(writes()).toHaveLength(1);
  });

  test("is shared with the replica that was quicker", async () => {
    const token = now();
    answer("PATCH", status(409, "Conflict"));
    answer("GET", json(withToken(token, "2")));
    const asking = ask();
    await until(() => clock.pending.length > 0);
    cache.upsert(withToken(token, "3", token));
    expect((await asking).state).toBe("answered");
    expect(writes()).toHaveLength(1);
  });

  test("is not answered by the answer to another", async () => {
    const token = now();
    answer("PATCH", json(withToken(token, "2")));
    const asking = ask();
    await until(() => clock.pending.length > 0);
    cache.upsert(withToken(token, "2"));
    cache.upsert(withToken(token, "3", "another"));
    cache.upsert(withToken(token, "4", token));
    expect((await asking).environment.metadata.resourceVersion).toBe("4");
  });

  test("ends with the environment", async () => {
    answer("PATCH", json(withToken(now(), "2")));
    const asking = ask();
    await until(() => clock.pending.length > 0);
    cache.remove(withToken(now(), "3"));
    expect((await asking).state).toBe("gone");
    expect(clock.pending).toEqual([]);
  });

  test("can be asked for again after a failure", async () => {
    server.on(({ method }) => method === "PATCH", status(503, "ServiceUnavailable"), json(withToken(now(), "2")));
    expect(await failureOf(ask())).toBeInstanceOf(ClusterUnavailable);
    expect(await unanswered(ask())).toMatchObject({ state: "pending" });
  });
});

describe("the list", () => {
  const everything = { isVisible: () => true };

  test("is none before all environments are known, and all of them from then on", async () => {
    cache.upsert(environment);
    expect(() => environments.list()).toThrow(ClusterUnavailable);
    expect(() => environments.page(everything)).toThrow(ClusterUnavailable);
    await cache.replace(
      { items: new Map([[environment.metadata.name, environment]]), resourceVersion: "1" },
      cache.beginList(),
    );
    expect(environments.list()).toEqual([environment]);
    expect(environments.page(everything)).toEqual({ items: [environment], total: 1 });
  });
});

function expectFault(error: unknown): void {
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(DomainError);
  expect(error).not.toBeInstanceOf(KubeError);
  expect((error as Error).cause).toMatchObject({ status: 403, reason: "Forbidden" });
}
