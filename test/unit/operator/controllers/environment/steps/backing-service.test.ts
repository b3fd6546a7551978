import { describe, expect, test } from "@jest/globals";
import type { Condition } from "../../../../../../crds/conditions.ts";
import type { EnvironmentStatus } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../../../crds/present.ts";
import { postgresql } from "../../../../../../operator/controllers/environment/backing-services/postgresql.ts";
import { environmentValues, hashOfDesired } from "../../../../../../operator/controllers/environment/desired/values.ts";
import { backingServices } from "../../../../../../operator/controllers/environment/steps/backing-service.ts";
import type { ObservedApplication } from "../../../../../../operator/ports/deployer.ts";
import type { PodProblem, PodProblemReason } from "../../../../../../operator/ports/pods.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { stepContext, stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  fixtureSettings,
  minutesLater,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { planInputFixture } from "../../../../../support/fixtures/plan-input.ts";

interface Scene {
  readonly provision?: boolean;
  readonly suspended?: boolean;
  /** Absent before the deployer's watch has seen the application. */
  readonly state?: ObservedApplication["state"];
  readonly problem?: ObservedApplication["problem"];
  readonly readiness?: "ready" | "unready" | "absent";
  /** The condition of the last reconcile, a minute ago. */
  readonly former?: Pick<Condition, "status" | "reason" | "message">;
  readonly problems?: readonly (readonly [component: string, reason: PodProblemReason])[];
  /** True when the desired values have answered before. */
  readonly serves?: boolean;
  /** True with a seed in the spec. */
  readonly hasSeed?: boolean;
  /** Source of a copy; it does not exist. */
  readonly from?: { readonly environment: string };
  /** True when the failed Job is that of a former seed. */
  readonly isFormerJob?: boolean;
  /** Number of the database in the spec. */
  readonly generation?: number;
  /** Known state of the database. */
  readonly database?: EnvironmentStatus["database"];
  /** Kinds of the chart's objects. */
  readonly kinds?: readonly string[];
  /** The chart's own values, as YAML. */
  readonly chartValues?: string;
}

const seed = { image: "registry.test/seed:1", path: "/seed/data.sql", format: "sql" } as const;

const gone = { environment: "gone" };

async function step(scene: Scene) {
  const { provision = true, suspended = false, state, problem, former, serves, problems = [] } = scene;
  const { hasSeed = false, database: known, kinds = ["Job"], chartValues, generation, from } = scene;
  const image = `registry.test/shop-api:${commitA}`;
  const applied = { branch: "main", commit: commitA, image };
  const made = environmentFixture({
    spec: { database: { provision, ...(hasSeed ? { seed } : {}), ...present({ generation, from }) }, suspended },
    status: { sources: { backend: { applied } }, ...(known ? { database: known } : {}) },
  });
  const chart = { ...fixtureSettings.defaultChart, values: chartValues ?? "" };
  const repository = repositoryFixture("shop-api", chartValues === undefined ? {} : { chart });
  const input = planInputFixture(made, { backend: repository });
  const hash = hashOfDesired(fixtureSettings.defaultChart, environmentValues(input, fixtureSettings));
  const job = postgresql.firstData?.pending(input, fixtureSettings)?.job ?? "migrate";
  const conditions = former && [{ type: "DatabaseReady", lastTransitionTime: CREATED, ...former }];
  const status = {
    ...made.status,
    desiredHash: hash,
    ...(conditions ? { conditions } : {}),
    ...(serves ? { readyAt: CREATED, servingHash: hash } : {}),
  };
  const observed = state && { state, revision: "", message: "", kinds, ...(problem ? { problem } : {}) };
  const reads: string[] = [];
  const evidence = async () => "its last line";
  const found = problems.map(
    ([component, reason]): PodProblem => ({
      component,
      reason,
      evidence,
      since: new Date(CREATED),
      object:
        reason === "JobFailed"
          ? { kind: "Job", name: scene.isFormerJob ? "database-seed-former" : job }
          : { kind: "StatefulSet", name: component },
      what: `it has ${reason}`,
      remedy: "repair it",
    }),
  );
  const [service] = backingServices(
    stepDependencies({
      backingServices: [postgresql],
      clock: new TestClock(minutesLater(10).toISOString()),
      repositories: memoryRepositories(repository),
      deployer: { observe: () => observed },
      pods: {
        async readiness(_environment, component) {
          reads.push(`readiness of ${component}`);
          return scene.readiness ?? "unready";
        },
        async diagnose() {
          reads.push("pods");
          return { problems: found, quiet: [], isServing: false };
        },
      },
    }),
  );
  return { result: await service?.run({ ...made, status }, stepContext()), reads };
}

const ready = { status: "True", reason: "Ready", message: "" } as const;
const starting = { status: "Unknown", reason: "Starting", message: "" } as const;
const seeding = { status: "Unknown", reason: "Seeding", message: "" } as const;
const seedFailed = { status: "False", reason: "SeedFailed", message: "database: failed: as before" } as const;
const failedBefore = { status: "False", reason: "CrashLoop", message: "database: as before" } as const;

describe("a backing service", () => {
  test.each<{ name: string; scene: Scene; expected: object; reads?: string[] }>([
    {
      name: "that is not wanted is done",
      scene: { provision: false, state: "progressing" },
      expected: { state: "done", reason: "NotRequested" },
    },
    {
      name: "is suspended with its environment",
      scene: { suspended: true, state: "progressing" },
      expected: { state: "done", reason: "Suspended" },
    },
    {
      name: "is ready when the application is healthy, without a read of its pods",
      scene: { state: "healthy", former: starting },
      expected: { state: "done", reason: "Ready" },
    },
    {
      name: "is awaited until the deployer has seen the desired values",
      scene: {},
      expected: { state: "waiting", reason: "Starting" },
    },
    {
      name: "that was ready stays ready while other values are deployed",
      scene: { state: "unseen", former: ready },
      expected: { state: "done", reason: "Ready" },
    },
    {
      name: "that was ready stays ready while the chart can't be rendered",
      scene: { state: "broken", problem: "ChartInvalid", former: ready },
      expected: { state: "done", reason: "Ready" },
    },
    {
      name: "that was suspended is awaited",
      scene: { state: "waiting", former: { ...ready, reason: "Suspended" } },
      expected: { state: "waiting", reason: "Starting" },
    },
    {
      name: "is ready although another component is not, which takes one read",
      scene: { state: "broken", problem: "DeploymentFailed", readiness: "ready", problems: [["backend", "CrashLoop"]] },
      expected: { state: "done", reason: "Ready" },
      reads: ["readiness of database"],
    },
    {
      name: "starts",
      scene: { state: "progressing", former: starting },
      expected: { state: "waiting", reason: "Starting", message: "the database is starting" },
      reads: ["readiness of database", "pods"],
    },
    {
      name: "without a pod may lack quota",
      scene: { state: "progressing", readiness: "absent", former: starting },
      expected: { state: "waiting", message: expect.stringContaining("quota") },
      reads: ["readiness of database", "pods"],
    },
    {
      name: "fails for its own problem, with its remedy and its last lines",
      scene: { state: "progressing", former: starting, problems: [["database", "VolumeMissing"]] },
      expected: {
        state: "failed",
        reason: "VolumeMissing",
        message: expect.stringMatching(
          /^database: it has VolumeMissing: .* database\.storageClass\nLast output of database:\nits last line$/,
        ),
      },
      reads: ["readiness of database", "pods"],
    },
    {
      name: "whose image can't be pulled has its own remedy",
      scene: { state: "progressing", former: starting, problems: [["database", "ImagePullFailed"]] },
      expected: {
        state: "failed",
        message: expect.stringMatching(
          /: correct database\.image of the settings or database\.version of the config set/,
        ),
      },
      reads: ["readiness of database", "pods"],
    },
    {
      name: "does not fail for another component's problem",
      scene: { state: "progressing", former: starting, problems: [["backend", "ImagePullFailed"]] },
      expected: { state: "waiting", reason: "Starting" },
      reads: ["readiness of database", "pods"],
    },
    {
      name: "keeps its failure while its pod starts again",
      scene: { state: "progressing", former: failedBefore },
      expected: { state: "failed", reason: "CrashLoop", message: "database: as before" },
      reads: ["readiness of database", "pods"],
    },
    {
      name: "whose copy has lost its source says so",
      scene: { from: gone },
      expected: { state: "failed", reason: "CopySourceNotFound" },
    },
    {
      name: "is copied once its Job has run, although the source is gone since",
      scene: { from: gone, state: "healthy" },
      expected: { state: "done", findings: { database: { made: true, from: { environment: "gone" } } } },
    },
    {
      name: "serves on where a copy that would make it anew has lost its source, and says so",
      scene: { from: gone, generation: 2, database: { made: true } },
      expected: { state: "failed", message: expect.stringContaining("stays with database.generation 1") },
    },
    {
      name: "is seeding while the sync waits for the Job",
      scene: { hasSeed: true, state: "waiting", former: seeding, problems: [["database", "ResourceNotReady"]] },
      expected: {
        state: "waiting",
        reason: "Seeding",
        message: expect.stringContaining("loading the seed /seed/data.sql of image 'registry.test/seed:1'"),
      },
      reads: ["pods"],
    },
    {
      name: "whose seed's image can't be pulled says so",
      scene: { hasSeed: true, state: "waiting", former: seeding, problems: [["database", "ImagePullFailed"]] },
      expected: { state: "failed", reason: "ImagePullFailed", message: expect.stringContaining("database.seed") },
      reads: ["pods"],
    },
    {
      name: "whose seed is broken fails with its last lines, although the deployer goes on to retry",
      scene: {
        hasSeed: true,
        state: "broken",
        problem: "SyncFailed",
        former: seeding,
        problems: [["database", "JobFailed"]],
      },
      expected: {
        state: "failed",
        reason: "SeedFailed",
        message: expect.stringMatching(
          /^database: it has JobFailed: correct the seed.*\nLast output of .*\nits last line$/s,
        ),
      },
      reads: ["pods"],
    },
    {
      name: "does not say that it is seeding while the application can't be applied for another reason",
      scene: { hasSeed: true, state: "broken", problem: "SyncFailed", former: seeding },
      expected: { state: "waiting", reason: "SyncFailed", message: expect.stringContaining("see ApplicationSynced") },
      reads: ["pods"],
    },
    {
      name: "with a corrected seed is seeding, although the Job of the broken one is still there",
      scene: {
        hasSeed: true,
        state: "waiting",
        former: seeding,
        problems: [["database", "JobFailed"]],
        isFormerJob: true,
      },
      expected: { state: "waiting", reason: "Seeding" },
      reads: ["pods"],
    },
    {
      name: "keeps the failure of its seed during a retry",
      scene: { hasSeed: true, state: "waiting", former: seedFailed },
      expected: { state: "failed", reason: "SeedFailed", message: seedFailed.message },
      reads: ["pods"],
    },
    {
      name: "is made with its seed once the sync has gone on",
      scene: { hasSeed: true, state: "progressing", former: seeding },
      expected: { state: "waiting", reason: "Starting", findings: { database: { made: true, seed } } },
      reads: ["readiness of database", "pods"],
    },
    {
      name: "is made with its seed when everything is healthy at once",
      scene: { hasSeed: true, state: "healthy", former: seeding },
      expected: { state: "done", reason: "Ready", findings: { database: { made: true, seed } } },
    },
    {
      name: "that was made before gets no seed",
      scene: { hasSeed: true, state: "healthy", former: ready, database: { made: true } },
      expected: { state: "done", reason: "Ready" },
    },
    {
      name: "that an older version of the platform made gets no seed",
      scene: { hasSeed: true, state: "healthy", former: ready },
      expected: { state: "done", reason: "Ready", findings: { database: { made: true } } },
    },
    {
      name: "that is wanted no longer may be made anew",
      scene: { provision: false, state: "healthy", database: { made: true, seed } },
      expected: { state: "done", reason: "NotRequested", findings: { database: { made: false } } },
    },
    {
      name: "with a seed fails where the chart has values of its own",
      scene: { hasSeed: true, state: "healthy", former: starting, chartValues: "host: ${database.host}" },
      expected: { state: "failed", reason: "SeedUnsupported", message: expect.stringContaining("values of its own") },
    },
    {
      name: "with a seed fails where the chart has no Job for it",
      scene: { hasSeed: true, state: "healthy", former: starting, kinds: ["Deployment"] },
      expected: { state: "failed", reason: "SeedUnsupported", message: expect.stringContaining("no Job") },
    },
    {
      name: "made anew is not ready because the former one was",
      scene: { generation: 2, state: "unseen", former: ready, database: { made: true } },
      expected: { state: "waiting", reason: "Starting", message: expect.stringContaining("anew") },
    },
    {
      name: "made anew with its seed is seeding, while the former one serves",
      scene: {
        generation: 2,
        hasSeed: true,
        state: "waiting",
        former: ready,
        database: { made: true, seed },
      },
      expected: { state: "waiting", reason: "Seeding", message: expect.stringContaining("the former database serves") },
    },
    {
      name: "made anew is noted once the sync has gone on",
      scene: { generation: 2, state: "progressing", former: starting, database: { made: true, seed } },
      expected: { state: "waiting", reason: "Starting", findings: { database: { made: true, generation: 2 } } },
      reads: ["readiness of database", "pods"],
    },
    {
      name: "can't be made anew by a chart with values of its own, which says the way back",
      scene: {
        generation: 2,
        state: "healthy",
        former: ready,
        database: { made: true },
        chartValues: "host: ${database.host}",
      },
      expected: { state: "failed", reason: "SeedUnsupported", message: expect.stringMatching(/generation back to 1$/) },
    },
    {
      name: "stays as it is where its number goes back to the former one",
      scene: { generation: 1, hasSeed: true, state: "healthy", former: seeding, database: { made: true } },
      expected: { state: "done", reason: "Ready" },
    },
    {
      name: "of an environment that serves fails nothing",
      scene: { state: "progressing", former: starting, serves: true, problems: [["database", "CrashLoop"]] },
      expected: { state: "waiting", reason: "CrashLoop" },
      reads: ["readiness of database", "pods"],
    },
  ])("$name", async ({ scene, expected, reads = [] }) => {
    const { result, reads: seen } = await step(scene);
    expect(result).toMatchObject(expected);
    expect(seen).toEqual(reads);
  });
});
