import { describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { StatusDrafts } from "../../../../../../operator/controllers/environment/status/status-drafts.ts";
import type { EnvironmentStatusWriter } from "../../../../../../operator/ports/environments.ts";
import { partialDouble } from "../../../../../support/doubles/partial-double.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";

const environment = environmentFixture({ status: { phase: "creating" } });
const found: EnvironmentStatus = { phase: "ready", podSecrets: ["made"] };
const later = { ...environment, metadata: { ...environment.metadata, resourceVersion: "later" } };
const another = { ...environment, metadata: { ...environment.metadata, uid: "another" } };

/** Drafts, with the writes that were tried; the writer refuses them from `refuse` on, and takes them again. */
function withWriter() {
  const clock = new TestClock();
  const writes: EnvironmentStatus[] = [];
  let isRefusing = false;
  let requests = 0;
  const statusWriter = partialDouble<EnvironmentStatusWriter>({
    async writeStatus(of, status) {
      writes.push(status);
      if (isRefusing) throw new Error("refused");
      return { ...of, status, metadata: { ...of.metadata, resourceVersion: "stored" } };
    },
  });
  const drafts = new StatusDrafts(statusWriter, clock);
  const store = (status: EnvironmentStatus, mayWait: boolean, of = environment) =>
    drafts.store(of, status, { mayWait, requeue: () => (requests += 1) });
  return {
    clock,
    drafts,
    writes,
    requests: () => requests,
    refuse(is: boolean) {
      isRefusing = is;
    },
    store: (status: EnvironmentStatus) => store(status, false),
    /** True when the status, which may wait, was not written. */
    async postponed(status: EnvironmentStatus, of = environment) {
      const before = writes.length;
      await store(status, true, of);
      return writes.length === before;
    },
  };
}

async function unstored() {
  const scene = withWriter();
  scene.refuse(true);
  await expect(scene.store(found)).rejects.toThrow("refused");
  expect(scene.writes).toEqual([found]);
  scene.refuse(false);
  return scene;
}

describe("the status of a reconcile", () => {
  test("and could not store is what the next one begins with", async () => {
    const { drafts } = await unstored();
    expect(drafts.continued(environment)).toEqual({ ...environment, status: found });
  });

  test("is also used when the environment was changed meanwhile", async () => {
    const { drafts } = await unstored();
    expect(drafts.continued(later)).toEqual({ ...later, status: found });
  });

  test("is nothing to another environment of the name", async () => {
    const { drafts } = await unstored();
    expect(drafts.continued(another)).toBe(another);
  });

  test("counts for nothing once another operator has stored what it found", async () => {
    const { drafts } = await unstored();
    const reported = { ...later, status: { phase: "ready", url: "https://shop" } } as const;
    expect(drafts.continued(reported)).toBe(reported);
  });

  test("comes from the API server once it is stored", async () => {
    const { drafts, store, writes } = await unstored();
    await store(found);
    expect(writes).toEqual([found, found]);
    expect(drafts.continued(environment)).toBe(environment);
  });

  test("is not written again where it is stored already, and what waited counts for nothing", async () => {
    const { drafts, store, writes } = await unstored();
    await store({ phase: "creating" });
    expect(writes).toEqual([found]);
    expect(drafts.continued(environment)).toBe(environment);
  });

  test("goes with the environment", async () => {
    const { drafts } = await unstored();
    drafts.forget(environment.metadata.name);
    expect(drafts.continued(environment)).toBe(environment);
  });
});

describe("a status that may wait for the next reconcile", () => {
  const first: EnvironmentStatus = { phase: "creating", namespace: "env-shop" };
  const further: EnvironmentStatus = { phase: "creating", url: "https://shop" };

  async function waiting() {
    const scene = withWriter();
    expect(await scene.postponed(first)).toBe(true);
    return scene;
  }

  test("is what the next one begins with, also when the environment was changed", async () => {
    const { drafts } = await waiting();
    expect(drafts.continued(environment).status).toEqual(first);
    expect(drafts.continued(later).status).toEqual(first);
  });

  test("is nothing to another environment of the name", async () => {
    const { drafts, postponed } = await waiting();
    expect(drafts.continued(another)).toBe(another);
    expect(await postponed(further, another)).toBe(true);
    expect(drafts.continued(environment)).toBe(environment);
  });

  test("waits for half a second in all, however many reconciles add to it, and then requests one that stores it", async () => {
    const { clock, drafts, postponed, requests, writes } = await waiting();
    clock.advance(300);
    expect(await postponed(further, later)).toBe(true);
    clock.advance(199);
    expect([requests(), await drafts.storeDue(environment), await postponed(further)]).toEqual([0, environment, true]);
    expect(writes).toEqual([]);
    clock.advance(1);
    expect([requests(), drafts.continued(environment).status]).toEqual([1, further]);
    expect(await drafts.storeDue(environment)).toMatchObject({
      status: further,
      metadata: { resourceVersion: "stored" },
    });
    expect(writes).toEqual([further]);
  });

  test("is stored at once when the wait is over", async () => {
    const { clock, postponed, writes } = await waiting();
    clock.advance(500);
    expect(await postponed(further)).toBe(false);
    expect(writes).toEqual([further]);
  });

  test.each(["stored", "forgotten"] as const)(
    "asks for nothing once it is %s, and the next waits anew",
    async (end) => {
      const { clock, drafts, postponed, requests, store } = await waiting();
      if (end === "stored") await store(further);
      else drafts.forget(environment.metadata.name);
      expect(clock.pending).toEqual([]);
      expect(await postponed(further)).toBe(true);
      clock.advance(499);
      expect(requests()).toBe(0);
    },
  );

  test("and could not be stored waits no more", async () => {
    const { clock, drafts, postponed, refuse, store, writes } = await waiting();
    clock.advance(500);
    refuse(true);
    await expect(store(further)).rejects.toThrow("refused");
    refuse(false);
    expect([clock.pending, await drafts.storeDue(environment), writes]).toEqual([[], environment, [further]]);
    expect(drafts.continued(environment).status).toEqual(further);
    expect(await postponed(found)).toBe(false);
  });
});
