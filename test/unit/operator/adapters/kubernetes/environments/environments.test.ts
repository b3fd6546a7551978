import { beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { ClusterUnavailable } from "../../../../../../crds/errors.ts";
import { RECONCILE_ANNOTATION } from "../../../../../../crds/group.ts";
import { environmentType } from "../../../../../../operator/adapters/kubernetes/kinds.ts";
import { type Answer, json, type SeenRequest, status } from "../../../../../support/doubles/fake-api-server.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { until } from "../../../../../support/fixtures/until.ts";
import { cachedEnvironments, environment, failureOf, UNKNOWN } from "./cached-environments.ts";

const world = cachedEnvironments();
const { answer } = world;

describe("an id that the cache does not know", () => {
  const { name, uid } = environment.metadata;
  const isList = ({ path }: SeenRequest) => !path.endsWith(name);
  const lists = () => world.server.seen.filter(isList);
  const listOf = (...items: readonly EphemeralEnvironment[]) =>
    json({ metadata: { resourceVersion: "1" }, items: items.map(({ metadata }) => ({ metadata })) });

  beforeEach(() => world.cache.replace({ items: new Map(), resourceVersion: "1" }, world.cache.beginList()));

  test("is looked up by the metadata of all, and then read in full", async () => {
    world.server.on(isList, listOf(environment));
    world.server.on(({ path }) => path.endsWith(name), json(environment));
    expect(await world.environments.find(uid)).toEqual(environment);
    expect(lists()[0]?.headers.accept).toMatch(/as=PartialObjectMetadataList/);
  });

  test("is asked for by a list that began after the question, once a second for all who ask", async () => {
    world.server.on(isList, listOf(), listOf(environment));
    world.server.on(({ path }) => path.endsWith(name), json(environment));
    expect(await world.environments.find(uid)).toBeUndefined();
    const requested = [world.environments.find(uid), world.environments.find(uid), world.environments.find(UNKNOWN)];
    await until(() => world.clock.pending.includes(1_000));
    expect(lists()).toHaveLength(1);
    world.clock.advance(1_000);
    expect(await Promise.all(requested)).toEqual([environment, environment, undefined]);
    expect(lists()).toHaveLength(2);
  });

  test("is asked for by one list at a time, in pages of a thousand", async () => {
    let end = (): void => undefined;
    const slow: Answer = (request, response) => {
      end = () => listOf()(request, response);
    };
    world.server.on(isList, slow, listOf(environment));
    world.server.on(({ path }) => path.endsWith(name), json(environment));
    const first = world.environments.find(uid);
    await until(() => lists().length === 1);
    const second = world.environments.find(uid);
    world.clock.advance(60_000);
    // After another round trip no further request was sent.
    await world.client.find(environmentType, { name });
    expect(lists()).toHaveLength(1);
    end();
    expect([await first, await second]).toEqual([undefined, environment]);
    expect(lists().map(({ query }) => query.get("limit"))).toEqual(["1000", "1000"]);
  });

  test("is asked for again after a list that failed", async () => {
    world.server.on(isList, status(403, "Forbidden"), listOf(environment));
    world.server.on(({ path }) => path.endsWith(name), json(environment));
    expect(await failureOf(world.environments.find(uid))).toBeInstanceOf(Error);
    world.clock.advance(1_000);
    expect(await world.environments.find(uid)).toEqual(environment);
  });

  test("that stands for another object by the time it is read is not found", async () => {
    world.server.on(isList, listOf(environment));
    world.server.on(({ path }) => path.endsWith(name), json(environmentFixture({ metadata: { uid: UNKNOWN } })));
    expect(await world.environments.find(uid)).toBeUndefined();
  });
});

describe("a pass that is asked for", () => {
  const withToken = (token: string, resourceVersion = "1", handled?: string) =>
    environmentFixture({
      metadata: { resourceVersion, annotations: { [RECONCILE_ANNOTATION]: token } },
      ...(handled === undefined ? {} : { status: { lastHandledReconcileAt: handled } }),
    });
  const writes = () => world.server.seen.filter(({ method }) => method === "PATCH");
  const now = () => world.clock.now().toISOString();
  const ask = (about = environment) => world.environments.reconcile(about, { withinMs: 1_000 });
  /** Advances the clock over the wait for an answer. */
  const unanswered = async (asking: Promise<unknown>) => {
    await until(() => world.clock.pending.length > 0);
    world.clock.advance(1_000);
    return asking;
  };

  test("is one write for a flood of them", async () => {
    answer("PATCH", json(withToken(now(), "2")));
    const flood = Array.from({ length: 50 }, () => ask());
    await until(() => world.clock.pending.length === flood.length);
    world.clock.advance(1_000);
    for (const { state } of await Promise.all(flood)) expect(state).toBe("pending");
    expect(await unanswered(ask(world.cache.get(environment.metadata.name)))).toMatchObject({ state: "pending" });
    expect(writes()).toHaveLength(1);
  });

  test.each([
    ["asked for less than five seconds ago", 4_999, 0],
    ["asked for by a replica whose clock is ahead of ours", -4_999, 0],
    ["asked for five seconds ago", 5_000, 1],
  ])("is written as often as it must when one was %s", async (_when, agoMs, expected) => {
    answer("PATCH", json(withToken(now(), "3")));
    const token = new Date(world.clock.now().getTime() - agoMs).toISOString();
    await unanswered(ask(withToken(token)));
    expect(writes()).toHaveLength(expected);
  });

  test("overwrites a value written by hand", async () => {
    answer("PATCH", json(withToken(now(), "3")));
    await unanswered(ask(withToken("now, please")));
    expect(writes()).toHaveLength(1);
  });

  test("is shared with the replica that was quicker", async () => {
    const token = now();
    answer("PATCH", status(409, "Conflict"));
    answer("GET", json(withToken(token, "2")));
    const asking = ask();
    await until(() => world.clock.pending.length > 0);
    world.cache.upsert(withToken(token, "3", token));
    expect((await asking).state).toBe("answered");
    expect(writes()).toHaveLength(1);
  });

  test("is not answered by the answer to another", async () => {
    const token = now();
    answer("PATCH", json(withToken(token, "2")));
    const asking = ask();
    await until(() => world.clock.pending.length > 0);
    world.cache.upsert(withToken(token, "2"));
    world.cache.upsert(withToken(token, "3", "another"));
    world.cache.upsert(withToken(token, "4", token));
    expect((await asking).environment.metadata.resourceVersion).toBe("4");
  });

  test("ends with the environment", async () => {
    answer("PATCH", json(withToken(now(), "2")));
    const asking = ask();
    await until(() => world.clock.pending.length > 0);
    world.cache.remove(withToken(now(), "3"));
    expect((await asking).state).toBe("gone");
    expect(world.clock.pending).toEqual([]);
  });

  test("can be asked for again after a failure", async () => {
    world.server.on(({ method }) => method === "PATCH", status(503, "ServiceUnavailable"), json(withToken(now(), "2")));
    expect(await failureOf(ask())).toBeInstanceOf(ClusterUnavailable);
    expect(await unanswered(ask())).toMatchObject({ state: "pending" });
  });
});

describe("the list", () => {
  const everything = { isVisible: () => true };

  test("is none before all environments are known, and all of them from then on", async () => {
    world.cache.upsert(environment);
    expect(() => world.environments.list()).toThrow(ClusterUnavailable);
    expect(() => world.environments.page(everything)).toThrow(ClusterUnavailable);
    expect(() => world.environments.changes(AbortSignal.abort())).toThrow(ClusterUnavailable);
    await world.cache.replace(
      { items: new Map([[environment.metadata.name, environment]]), resourceVersion: "1" },
      world.cache.beginList(),
    );
    expect(world.environments.list()).toEqual([environment]);
    expect(world.environments.page(everything)).toEqual({ items: [environment], total: 1 });
  });
});
