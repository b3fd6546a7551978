import { describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { StatusDrafts } from "../../../../../../operator/controllers/environment/status/status-drafts.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../../../support/fixtures/environment/environment-fixture.ts";

const environment = environmentFixture({ status: { phase: "creating" } });
const found: EnvironmentStatus = { phase: "ready", podSecrets: ["made"] };
const later = { ...environment, metadata: { ...environment.metadata, resourceVersion: "later" } };
const another = { ...environment, metadata: { ...environment.metadata, uid: "another" } };

async function unstored(): Promise<StatusDrafts> {
  const drafts = new StatusDrafts(new TestClock());
  const refused = drafts.store(environment, found, () => Promise.reject(new Error("refused")));
  await expect(refused).rejects.toThrow("refused");
  return drafts;
}

describe("the status of a reconcile", () => {
  test("and could not store is what the next one begins with", async () => {
    expect((await unstored()).continued(environment)).toEqual({ ...environment, status: found });
  });

  test("is also used when the environment was changed meanwhile", async () => {
    expect((await unstored()).continued(later)).toEqual({ ...later, status: found });
  });

  test("is nothing to another environment of the name", async () => {
    expect((await unstored()).continued(another)).toBe(another);
  });

  test("counts for nothing once another operator has stored what it found", async () => {
    const reported = { ...later, status: { phase: "ready", url: "https://shop" } } as const;
    expect((await unstored()).continued(reported)).toBe(reported);
  });

  test("returns the answer of the write", async () => {
    expect(await (await unstored()).store(environment, found, async () => "stored")).toBe("stored");
  });

  test("comes from the API server once it is stored", async () => {
    const drafts = await unstored();
    await drafts.store(environment, found, async () => undefined);
    expect(drafts.continued(environment)).toBe(environment);
  });

  test("goes with the environment", async () => {
    const drafts = await unstored();
    drafts.forget(environment.metadata.name);
    expect(drafts.continued(environment)).toBe(environment);
  });
});

describe("a status that may wait for the next reconcile", () => {
  const further: EnvironmentStatus = { phase: "creating", url: "https://shop" };

  function waiting() {
    const clock = new TestClock();
    const drafts = new StatusDrafts(clock);
    let requests = 0;
    const postponed = (status: EnvironmentStatus, of = environment) =>
      drafts.postpone(of, status, () => (requests += 1));
    expect(postponed({ phase: "creating" })).toBe(true);
    return { clock, drafts, postponed, requests: () => requests };
  }

  test("is what the next one begins with, also when the environment was changed", () => {
    const { drafts } = waiting();
    expect(drafts.continued(environment).status).toEqual({ phase: "creating" });
    expect(drafts.continued(later).status).toEqual({ phase: "creating" });
  });

  test("is nothing to another environment of the name", () => {
    const { drafts, postponed } = waiting();
    expect(drafts.continued(another)).toBe(another);
    expect(postponed(further, another)).toBe(true);
    expect(drafts.continued(environment)).toBe(environment);
  });

  test("waits for half a second in all, however many reconciles add to it, and then requests one that stores it", () => {
    const { clock, drafts, postponed, requests } = waiting();
    clock.advance(300);
    expect(postponed(further, later)).toBe(true);
    clock.advance(199);
    expect([requests(), drafts.due(environment), postponed(further)]).toEqual([0, undefined, true]);
    clock.advance(1);
    expect([requests(), drafts.due(environment), postponed(further)]).toEqual([1, further, false]);
    expect(drafts.continued(environment).status).toEqual(further);
  });

  test.each(["stored", "forgotten"] as const)(
    "asks for nothing once it is %s, and the next waits anew",
    async (end) => {
      const { clock, drafts, postponed, requests } = waiting();
      if (end === "stored") await drafts.store(environment, further, async () => undefined);
      else drafts.forget(environment.metadata.name);
      expect(clock.pending).toEqual([]);
      expect(postponed(further)).toBe(true);
      clock.advance(499);
      expect(requests()).toBe(0);
    },
  );

  test("and could not be stored waits no more", async () => {
    const { clock, drafts, postponed } = waiting();
    clock.advance(500);
    await expect(drafts.store(environment, further, () => Promise.reject(new Error("refused")))).rejects.toThrow();
    expect([clock.pending, drafts.due(environment)]).toEqual([[], undefined]);
    expect(drafts.continued(environment).status).toEqual(further);
    expect(postponed(found)).toBe(false);
  });
});
