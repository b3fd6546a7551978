import { describe, expect, test } from "@jest/globals";
import { application } from "../../../../../../operator/controllers/environment/steps/application.ts";
import type { Deployer, NamedObject, ObservedApplication } from "../../../../../../operator/ports/deployer.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

const message = "the cluster did not take all that the chart makes: Job/migrate: it can't be changed";
const broken: ObservedApplication = {
  state: "broken",
  problem: "SyncFailed",
  revision: "",
  message,
  hasUnchangedJobs: true,
};
const trying: ObservedApplication = { state: "waiting", revision: "", message: "Argo CD is syncing the application" };
const migrate = { kind: "Job", name: "migrate" };

/** A reconcile in which the deployer is seen like this, before and after Jobs were replaced, of which some still run. */
async function reconcile(seen: readonly ObservedApplication[], running: readonly NamedObject[] = []) {
  const requested: string[] = [];
  let looks = 0;
  const deployer: Partial<Deployer> = {
    ensureProject: async () => undefined,
    ensure: async () => "unchanged",
    observe: () => seen[Math.min(looks++, seen.length - 1)],
    async replaceJobs() {
      requested.push("replaceJobs");
      return running;
    },
    async retry() {
      requested.push("retry");
      return 15_000;
    },
    async endSync() {
      requested.push("endSync");
    },
  };
  const step = application(
    stepDependencies({
      clock: new TestClock(CREATED),
      repositories: memoryRepositories(repositoryFixture("shop-api")),
      deployer,
      pods: {
        lastOutput: async () => "",
        diagnose: async () => ({ problems: [], quiet: [], isServing: false }),
      },
    }),
  );
  const applied = { branch: "main", commit: commitA, image: "registry.test/shop-api:a" };
  const environment = environmentFixture({ status: { sources: { backend: { applied } } } });
  return { result: await step.run(environment, stepContext()), requests: requested };
}

describe("Jobs that a sync could not change", () => {
  test("have the application tried again, and fail nothing, when they have made way", async () => {
    const { result, requests: requested } = await reconcile([broken, trying]);
    expect(result).toMatchObject({ state: "waiting", reason: "Syncing" });
    expect(requested).toEqual(["replaceJobs"]);
  });

  test("are waited for while they run, and named", async () => {
    const { result, requests: requested } = await reconcile([broken], [migrate]);
    expect(result).toMatchObject({
      state: "waiting",
      reason: "SyncWaiting",
      message: `the sync waits for Job/migrate to end, to make it anew; before, ${message}`,
      requeueAfterMs: 10_000,
    });
    expect(requested).toEqual(["replaceJobs"]);
  });

  test("fail the application where they may not be replaced", async () => {
    const { result, requests: requested } = await reconcile([broken]);
    expect(result).toMatchObject({ reason: "SyncFailed", message });
    expect(requested).toEqual(["replaceJobs", "retry"]);
  });

  test("are not asked for where there are none", async () => {
    const { requests: requested } = await reconcile([trying]);
    expect(requested).toEqual([]);
  });
});

describe("A sync to former values", () => {
  const since = new Date(new Date(CREATED).getTime() - 31_000);
  const waitingSync = { objects: [migrate], since, isOutdated: true };

  test.each([
    { name: "is ended in the pause before its next attempt", seen: { ...trying, hasOutdatedRetries: true } },
    { name: "is ended when it has waited for half a minute", seen: { ...trying, waitingSync } },
  ])("$name", async ({ seen }) => {
    expect((await reconcile([seen])).requests).toEqual(["endSync"]);
  });

  test.each([
    { name: "goes on while it may end by itself", waits: { since: new Date(CREATED) } },
    { name: "goes on when its values are those of now", waits: { isOutdated: false } },
  ])("$name", async ({ waits }) => {
    const seen = { ...trying, waitingSync: { ...waitingSync, ...waits } };
    expect((await reconcile([seen])).requests).not.toContain("endSync");
  });
});
