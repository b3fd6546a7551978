import { beforeEach, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../../../crds/conditions.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../crds/environment/ephemeral-environment.ts";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { BACKING_SERVICES } from "../../../../../operator/controllers/environment/backing-services/index.ts";
import { environmentRecord } from "../../../../../operator/controllers/environment/deletion/record.ts";
import { storedVariables } from "../../../../../operator/controllers/environment/desired/variables.ts";
import { runSteps } from "../../../../../operator/controllers/environment/run-steps.ts";
import { createSchedule } from "../../../../../operator/controllers/environment/schedule.ts";
import { statusAfter } from "../../../../../operator/controllers/environment/status/status.ts";
import { environmentSteps } from "../../../../../operator/controllers/environment/steps/index.ts";
import { chartTemplates } from "../../../../../operator/controllers/environment/template.ts";
import { secretKind } from "../../../../../operator/kit/client/kinds.ts";
import type { DesiredApplication, ObservedApplication } from "../../../../../operator/ports/deployer.ts";
import type { PodProblem } from "../../../../../operator/ports/pods.ts";
import { type MemoryCluster, memoryCluster } from "../../../../support/doubles/memory/cluster.ts";
import { memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { type MemorySecretManager, memorySecretManager } from "../../../../support/doubles/memory/secret-manager.ts";
import { stepDependencies } from "../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import {
  environmentFixture,
  fixtureSettings,
  minutesLater,
  repositoryFixture,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { CACHE_READY, redis, withCache } from "../../../../support/fixtures/redis-backing-service.ts";
import { endless } from "./step-runs.ts";

const services = [...BACKING_SERVICES, redis];
const repository = repositoryFixture("shop-api", { secrets: [{ name: "KEY" }] });

function world() {
  const clock = new TestClock(minutesLater(1).toISOString());
  const now = () => clock.now();
  const cluster: MemoryCluster = memoryCluster(now);
  const secretManager: MemorySecretManager = memorySecretManager(now);
  const schedules = { probes: createSchedule(clock, 60_000), secretChecks: createSchedule(clock, 600_000) };
  let desired: DesiredApplication | undefined;
  let observed: ObservedApplication = { state: "healthy", revision: "0123456789abcdef", message: "" };
  let problems: readonly PodProblem[] = [];
  let status: EnvironmentStatus = {};
  const dependencies = stepDependencies({
    clock,
    cluster,
    secretManager,
    backingServices: services,
    generateSecret: ({ name }) => new Sensitive(`generated ${name}`),
    repositories: memoryRepositories(repository),
    deployer: {
      ensureProject: async () => undefined,
      async ensure(application) {
        desired = application;
        return "changed";
      },
      observe: () => observed,
      deployedSources: () => ({}),
    },
    pods: { readiness: async () => "unready", diagnose: async () => ({ problems, quiet: [], isServing: false }) },
    prober: { probe: async () => ({ status: "healthy", responseTimeMs: 1, message: "" }) },
  });
  const plan = environmentSteps(dependencies, schedules);
  return {
    clock,
    secretManager,
    async reconcile(spec: Partial<EnvironmentSpec>) {
      const environment = environmentFixture({ spec, status });
      const { results, error } = await runSteps(plan, environment, endless);
      expect(error).toBeUndefined();
      const conditions = plan.map(({ condition }) => condition);
      status = statusAfter(environment, results, { now: now(), settings: fixtureSettings, conditions });
      return { status, values: desired?.values ?? {} };
    },
    /** Gives the pods of a component this problem. */
    fail(problem: Pick<PodProblem, "component" | "reason">) {
      const texts = { what: "it can't be pulled", remedy: "build it", evidence: async () => "" };
      observed = { state: "progressing", revision: "", message: "" };
      const object = { kind: "StatefulSet", name: problem.component };
      problems = [{ ...problem, object, ...texts, since: clock.now() }];
    },
    async podSecret() {
      const { metadata } = environmentFixture();
      const ref = { name: status.podSecrets?.at(-1) ?? "", namespace: "env-shop" };
      const { data = {} } = ((await cluster.read(metadata, secretKind, ref)) ?? {}) as {
        data?: Record<string, string>;
      };
      return Object.fromEntries(
        Object.entries(data).map(([name, value]) => [name, Buffer.from(value, "base64").toString()]),
      );
    },
  };
}

let scene: ReturnType<typeof world>;
beforeEach(() => {
  scene = world();
});

describe("a second backing service", () => {
  test("brings its values, its generated secret and what is derived from it, beside those of the first", async () => {
    const { status, values } = await scene.reconcile({ ...withCache, database: { provision: true } });
    expect(values).toMatchObject({
      database: { user: "app" },
      cache: { image: "docker.io/library/redis:8" },
      secret: { name: status.podSecrets?.at(-1) },
    });
    expect(await scene.podSecret()).toEqual({
      KEY: "generated KEY",
      DATABASE_PASSWORD: "generated DATABASE_PASSWORD",
      DATABASE_URL: "postgresql://app:generated%20DATABASE_PASSWORD@database:5432/app",
      CACHE_PASSWORD: "generated CACHE_PASSWORD",
      CACHE_URL: "redis://:generated%20CACHE_PASSWORD@cache:6379/0",
    });
    expect(status.secrets).toContainEqual({ name: "CACHE_URL", version: 1, source: "CACHE_PASSWORD@latest" });
  });

  test("keeps its secret in the secret manager, and what is derived nowhere else", async () => {
    await scene.reconcile(withCache);
    const requests = ["CACHE_PASSWORD", "CACHE_URL"].map((name) => ({ name, version: 1 }));
    const stored = await scene.secretManager.ensure(environmentFixture().metadata, requests);
    expect([...stored.keys()]).toEqual(["CACHE_PASSWORD"]);
  });

  test("shows its condition, and the environment is ready with it", async () => {
    await scene.reconcile(withCache);
    const { status } = await scene.reconcile(withCache);
    expect(status.phase).toBe("ready");
    expect(findCondition(status.conditions, CACHE_READY)).toMatchObject({ status: "True", reason: "Ready" });
    expect(findCondition(status.conditions, "DatabaseReady")).toMatchObject({ reason: "NotRequested" });
  });

  test("is not there unless it is wanted", async () => {
    const { status, values } = await scene.reconcile({});
    expect(values).not.toHaveProperty("cache");
    expect(Object.keys(await scene.podSecret())).toEqual(["KEY"]);
    expect(findCondition(status.conditions, CACHE_READY)).toMatchObject({ status: "True", reason: "NotRequested" });
  });

  test("can be added later, with its secret and without another of those that exist", async () => {
    await scene.reconcile({});
    const before = await scene.podSecret();
    const { values } = await scene.reconcile(withCache);
    expect(values).toHaveProperty("cache");
    expect(await scene.podSecret()).toMatchObject({ ...before, CACHE_PASSWORD: "generated CACHE_PASSWORD" });
  });

  test("gives another secret for a rotation, and derives its URL anew", async () => {
    await scene.reconcile(withCache);
    const { status } = await scene.reconcile({ ...withCache, secrets: { rotate: { CACHE_PASSWORD: "2" } } });
    expect(status.secrets).toEqual(
      expect.arrayContaining([
        { name: "CACHE_PASSWORD", version: 2, rotation: "2" },
        { name: "CACHE_URL", version: 2, source: "CACHE_PASSWORD@latest" },
      ]),
    );
  });

  test("fails in its own condition, with its own remedy", async () => {
    scene.fail({ component: "cache", reason: "ImagePullFailed" });
    await scene.reconcile(withCache);
    scene.clock.advance(60_000);
    const { status } = await scene.reconcile(withCache);
    expect(findCondition(status.conditions, CACHE_READY)).toMatchObject({
      status: "False",
      reason: "ImagePullFailed",
      message: "cache: it can't be pulled: push the image of the cache",
    });
    expect(status.phase).toBe("failed");
  });

  test("forbids a plain value of its secret, and is another desired state", async () => {
    const { status: before } = await scene.reconcile({});
    const env = [{ name: "CACHE_PASSWORD", value: "seen" }];
    const { status } = await scene.reconcile({ ...withCache, overrides: { backend: { env } } });
    expect(findCondition(status.conditions, "SecretsReady")).toMatchObject({ reason: "SecretInPlainText" });
    expect(status.rollout?.specHash).not.toBe(before.rollout?.specHash);
  });

  test("has its secret removed with the environment, and a record of the others' alone", () => {
    const environment = environmentFixture({ spec: { ...withCache, database: { provision: true } } });
    expect(storedVariables(environment, {}, services)).toContain("CACHE_PASSWORD");
    const record = environmentRecord(environment, { steps: [], goneAt: minutesLater(1), services });
    expect(record).toMatchObject({ databaseProvisioned: true });
  });

  test("is in the template of a chart when its config set wants it", () => {
    const cache = { ...redis, isDesired: () => true };
    const { values, variables } = chartTemplates(fixtureSettings, [cache]).templateOf({
      repository,
      configSet: {},
      generatesSecrets: true,
    });
    expect(values).toHaveProperty("cache");
    expect(variables.map(({ name }) => name)).toEqual(["CACHE_PASSWORD", "CACHE_URL", "KEY"]);
  });
});
