import { expect, test } from "@jest/globals";
import type { Condition } from "../../../../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { postgresql } from "../../../../../../operator/controllers/environment/backing-services/postgresql.ts";
import { hashOfDesired } from "../../../../../../operator/controllers/environment/desired/values.ts";
import {
  application,
  desiredApplication,
} from "../../../../../../operator/controllers/environment/steps/application.ts";
import type { AwakeWorkload } from "../../../../../../operator/ports/workload-scaler.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

interface Scene {
  /** State so far. */
  readonly former?: "Asleep" | "Suspended" | "awake";
  /** True when it sleeps on. */
  readonly suspended?: boolean;
  /** True when something else has changed since. */
  readonly isChanged?: boolean;
  /** True when its database is to be made anew. */
  readonly isReset?: boolean;
  /** The chart's own values, as YAML. */
  readonly chartValues?: string;
}

const informed = (type: string): Condition => ({
  type,
  status: "True",
  reason: type,
  message: "",
  lastTransitionTime: CREATED,
});

/** Requests to deployer and workloads in a reconcile of an environment with three backend pods and a database. */
async function reconcile(scene: Scene) {
  const { former = "Asleep", suspended = false, isChanged = false, isReset = false, chartValues } = scene;
  const requests: (string | readonly AwakeWorkload[])[] = [];
  const chart = { repoUrl: "https://git.test/charts.git", path: "shop", revision: "main", values: chartValues ?? "" };
  const dependencies = stepDependencies({
    backingServices: [postgresql],
    clock: new TestClock(CREATED),
    repositories: memoryRepositories(repositoryFixture("shop-api", chartValues === undefined ? {} : { chart })),
    deployer: {
      ensureProject: async () => undefined,
      async ensure() {
        requests.push("ensure");
        return "changed";
      },
      observe: () => undefined,
    },
    workloadScaler: {
      async scaleFromZero(_environment, workloads) {
        requests.push(workloads);
      },
    },
  });
  const applied = { branch: "main", commit: commitA, image: "registry.test/shop-api:a" };
  const status: EphemeralEnvironment["status"] = {
    sources: { backend: { applied } },
    database: { made: true },
    conditions: former === "awake" ? [] : [informed(former)],
  };
  const database = { provision: true, ...(isReset ? { generation: 2 } : {}) };
  const spec = { database, overrides: { backend: { replicas: 3 } } };
  const asleep = environmentFixture({ spec: { ...spec, suspended: former !== "awake" }, status });
  const before = desiredApplication(asleep, dependencies);
  const desiredHash = isChanged ? "other" : hashOfDesired(before.chart, before.values);
  const environment = environmentFixture({ spec: { ...spec, suspended }, status: { ...status, desiredHash } });
  await application(dependencies).run(environment, stepContext());
  return requests;
}

test.each(["Asleep", "Suspended"] as const)("one that was %s has its pods once the deployer knows", async (former) => {
  expect(await reconcile({ former })).toEqual([
    "ensure",
    [
      { kind: "StatefulSet", name: "database", replicas: 1 },
      { kind: "Deployment", name: "backend", replicas: 3 },
    ],
  ]);
});

test.each<{ readonly what: string; readonly scene: Scene }>([
  { what: "sleeps on", scene: { suspended: true } },
  { what: "was awake", scene: { former: "awake" } },
  { what: "would start what is not wanted any more", scene: { isChanged: true } },
  { what: "would start its former database", scene: { isReset: true } },
  { what: "has workloads that only its chart knows", scene: { chartValues: "pods: ${replicas.orZero(3)}\n" } },
])("one that $what is left to the deployer", async ({ scene }) => {
  expect(await reconcile(scene)).toEqual(["ensure"]);
});
