import { beforeEach, describe, expect, test } from "@jest/globals";
import { markAnnotations } from "../../../../../../crds/environment/idempotency-record.ts";
import {
  ClusterUnavailable,
  ConfigInvalid,
  DomainError,
  EnvironmentConflict,
  NameExists,
} from "../../../../../../crds/errors.ts";
import { AUDIT_ID_ANNOTATION } from "../../../../../../crds/group.ts";
import { kubernetesEnvironments } from "../../../../../../operator/adapters/kubernetes/environments/environments.ts";
import { KubeError } from "../../../../../../operator/kit/client/errors.ts";
import { ownDeletions } from "../../../../../../operator/kit/client/own-deletions.ts";
import { RemovalRefused } from "../../../../../../operator/ports/environments.ts";
import { json, reset, status } from "../../../../../support/doubles/fake-api-server.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { cachedEnvironments, environment, failureOf, UNKNOWN } from "./cached-environments.ts";

const world = cachedEnvironments();
const { answer } = world;

describe("a removal that the API server forbids", () => {
  beforeEach(() => answer("DELETE", status(403, "Forbidden")));

  test.each([
    ["without end", { protected: true }],
    ["for a time", { protectedUntil: "2026-01-09T00:00:00Z" }],
  ])("is a conflict when the environment is protected %s now, whatever was read before", async (_, spec) => {
    answer("GET", json(environmentFixture({ spec })));
    expect(await failureOf(world.environments.remove(environment))).toBeInstanceOf(EnvironmentConflict);
  });

  test("is a conflict of its own when it is not protected: a policy or a missing right forbids it", async () => {
    answer("GET", json(environment));
    const error = await failureOf(world.environments.remove(environmentFixture({ spec: { protected: true } })));
    expect(error).toBeInstanceOf(RemovalRefused);
    // Callers see none of the API server's message.
    expect((error as RemovalRefused).message).not.toContain((error as RemovalRefused).why);
    expect((error as Error).cause).toMatchObject({ status: 403, reason: "Forbidden" });
  });

  test("is none when the environment is gone, or its name has passed to another", async () => {
    answer("GET", json(environmentFixture({ metadata: { uid: UNKNOWN } })));
    expect(await world.environments.remove(environment)).toBe("removing");
    expect(await world.environments.remove(environment, { onlyThisVersion: true })).toBe("changed");
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
    world.server.on(({ method }) => method === "DELETE", ...given);
    answer("GET", json(there));
    const deletions = ownDeletions();
    const remembering = kubernetesEnvironments({
      client: world.client,
      cache: world.cache,
      clock: world.clock,
      deletions,
    });
    await failureOf(remembering.remove(environment, { onlyThisVersion: only }));
    expect(deletions.has(uid)).toBe(remembered);
  });
});

test("an extension that the API server forbids is a fault with its cause", async () => {
  answer("PATCH", status(403, "Forbidden"));
  expectFault(await failureOf(world.environments.extend(environment, { ttlHours: 48 })));
});

describe("changes of an environment", () => {
  const extend = (ttlHours: number) => world.environments.extend(environment, { ttlHours });

  test("at the same moment go one after the other, each on the version that the one before has left", async () => {
    let current = environment;
    world.server.on(
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
    world.cache.upsert(environment);
    const hours = Array.from({ length: 12 }, (_, index) => 48 + index);
    const changed = await Promise.all(hours.map(extend));
    expect(changed.map(({ spec }) => spec.ttlHours)).toEqual(hours);
    expect(world.server.seen).toHaveLength(12);
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
    expect(world.server.seen).toHaveLength(1);
  });

  test("go on after one that was refused", async () => {
    world.server.on(({ method }) => method === "PATCH", status(422, "Invalid"), json(environment));
    const [refused, made] = await Promise.all([failureOf(extend(48)), extend(49)]);
    expect(refused).toBeInstanceOf(ConfigInvalid);
    expect(made).toEqual(environment);
  });
});

describe("a name that is taken", () => {
  const mark = { key: "key", request: "request" };
  const ours = environmentFixture({ metadata: { annotations: markAnnotations(mark) } });
  const create = () => world.environments.create(environment.metadata.name, environment.spec, mark);
  beforeEach(() => answer("POST", status(409, "AlreadyExists")));

  test("is ours when the request that comes again took it, whatever had it before", async () => {
    world.cache.upsert(environmentFixture({ metadata: { uid: UNKNOWN } }));
    answer("GET", json(ours));
    expect(await create()).toEqual(ours);
  });

  test("is not ours any more a day later", async () => {
    answer("GET", json(ours));
    world.clock.advance(Date.parse(ours.metadata.creationTimestamp) + 24 * 3_600_000 - world.clock.now().getTime());
    expect(await failureOf(create())).toBeInstanceOf(NameExists);
  });
});

describe("a creation whose answer got lost", () => {
  const stamped = (id: string) => environmentFixture({ metadata: { annotations: { [AUDIT_ID_ANNOTATION]: id } } });
  const create = () =>
    kubernetesEnvironments({
      client: world.client,
      cache: world.cache,
      clock: world.clock,
      deletions: ownDeletions(),
      auditId: () => "ours",
    }).create("shop", environment.spec);

  test.each([
    ["was cut", reset],
    ["timed out at the API server", status(504, "Timeout")],
  ])("is one when the answer %s and the environment is there", async (_how, lost) => {
    answer("POST", lost);
    answer("GET", json(stamped("ours")));
    expect(await create()).toEqual(stamped("ours"));
    expect(world.cache.get("shop")).toEqual(stamped("ours"));
  });

  test.each([
    ["nothing is there", status(404, "NotFound")],
    ["what is there was made by another request", json(stamped("another"))],
    ["no server can answer", reset],
  ])("is none when %s", async (_what, found) => {
    answer("POST", reset);
    answer("GET", found);
    expect(await failureOf(create())).toBeInstanceOf(ClusterUnavailable);
  });

  test("is not looked for when the API server was too busy to take it", async () => {
    answer("POST", status(429, "TooManyRequests"));
    answer("GET", json(stamped("ours")));
    expect(await failureOf(create())).toBeInstanceOf(ClusterUnavailable);
    expect(world.server.seen.filter(({ method }) => method === "GET")).toEqual([]);
  });
});

function expectFault(error: unknown): void {
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(DomainError);
  expect(error).not.toBeInstanceOf(KubeError);
  expect((error as Error).cause).toMatchObject({ status: 403, reason: "Forbidden" });
}
