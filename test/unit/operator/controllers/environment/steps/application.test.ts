import { describe, expect, test } from "@jest/globals";
import type { Condition } from "../../../../../../crds/conditions.ts";
import type { ChartSource } from "../../../../../../crds/repository/repository.ts";
import { hashOfDesired } from "../../../../../../operator/controllers/environment/desired/values.ts";
import { done, failed, type StepResult } from "../../../../../../operator/controllers/environment/step-result.ts";
import {
  application,
  desiredApplication,
} from "../../../../../../operator/controllers/environment/steps/application.ts";
import { DeployerUnavailable, type ObservedApplication } from "../../../../../../operator/ports/deployer.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  fixtureSettings,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

interface Scene {
  readonly status?: Condition["status"];
  readonly reason?: string;
  /** Duration of the deployer's health; absent: not reported. */
  readonly healthySeconds?: number;
  readonly serves?: boolean;
  /** The result of the secrets step in this reconcile. */
  readonly secrets?: StepResult;
}

const applied = { backend: { applied: { branch: "main", commit: commitA, image: "registry.test/shop-api:a" } } };

/** A reconcile of an application that is healthy now and had another condition before. */
async function settle(scene: Scene) {
  const { status = "Unknown", reason = "CrashLoop", healthySeconds, serves = true, secrets = done("Mirrored") } = scene;
  const clock = new TestClock(CREATED);
  const since = healthySeconds === undefined ? {} : { since: new Date(clock.now().getTime() - healthySeconds * 1000) };
  const observed: ObservedApplication = { state: "healthy", revision: "0123456789abcdef", message: "", ...since };
  const dependencies = stepDependencies({
    clock,
    repositories: memoryRepositories(repositoryFixture("shop-api")),
    deployer: { ensureProject: async () => undefined, ensure: async () => "unchanged", observe: () => observed },
  });
  const context = stepContext({ earlier: new Map([["SecretsReady", secrets]]) });
  const sources = applied;
  const { chart, values } = desiredApplication(environmentFixture({ status: { sources } }), dependencies);
  const hash = hashOfDesired(chart, values);
  const condition = {
    type: "ApplicationSynced",
    status,
    reason,
    message: "backend: it ends",
    lastTransitionTime: CREATED,
  };
  const before = serves ? { readyAt: CREATED, servingHash: hash } : {};
  const environment = environmentFixture({
    status: { sources, desiredHash: hash, conditions: [condition], ...before },
  });
  return application(dependencies).run(environment, context);
}

const reported = { state: "waiting", reason: "CrashLoop", message: "backend: it ends" };
const synced = { state: "done", reason: "Synced" };

describe("an application that is healthy", () => {
  test.each([
    {
      name: "keeps its former condition between two crashes, so that no crash costs two writes",
      scene: { healthySeconds: 20 },
      expected: { ...reported, requeueAfterMs: 40_000 },
    },
    { name: "is synced when it has been healthy for a minute", scene: { healthySeconds: 60 }, expected: synced },
    { name: "is synced where the deployer does not say since when", scene: {}, expected: synced },
    { name: "is synced at once when it never served", scene: { healthySeconds: 0, serves: false }, expected: synced },
    {
      name: "is synced at once when no pod had a problem",
      scene: { healthySeconds: 0, reason: "Syncing" },
      expected: synced,
    },
    { name: "stays synced", scene: { healthySeconds: 0, status: "True", reason: "Synced" }, expected: synced },
  ] as const)("$name", async ({ scene, expected }) => {
    expect(await settle(scene)).toMatchObject(expected);
  });

  test("counts as what the spec asks for, unless its pods have the secrets of before", async () => {
    const { findings } = await settle({});
    expect(findings).toHaveProperty("renderedSpecHash");
    const refused = await settle({ secrets: failed("SecretNotShared", "API_KEY is not shared") });
    expect(refused.findings).not.toHaveProperty("renderedSpecHash");
    expect(refused.findings?.desiredHash).toBe(findings?.desiredHash);
  });
});

const chart: ChartSource = { repoUrl: "https://git.test/charts.git", path: "shop", revision: "main" };

test.each([
  { name: "the chart of its Repository", repository: repositoryFixture("shop-api", { chart }), expected: chart },
  { name: "the default chart", repository: repositoryFixture("shop-api"), expected: fixtureSettings.defaultChart },
])("the deployer is confined to $name before it is requested for the application", async ({ repository, expected }) => {
  const requested: unknown[] = [];
  const stop = new DeployerUnavailable("it is away");
  const dependencies = stepDependencies({
    repositories: memoryRepositories(repository),
    deployer: {
      ensureProject: async (owner, to) => void requested.push("ensureProject", owner, to),
      ensure: async (desired) => {
        requested.push("ensure", desired.environment, desired.chart);
        throw stop;
      },
    },
  });
  const environment = environmentFixture({ status: { sources: applied } });
  const { name, uid } = environment.metadata;
  await expect(application(dependencies).run(environment, stepContext())).rejects.toBe(stop);
  expect(requested).toEqual(["ensureProject", { name, uid }, expected, "ensure", { name, uid }, expected]);
});
