import { findCondition, type StepCondition } from "../../../../../../crds/conditions.ts";
import type {
  EnvironmentSpec,
  EnvironmentStatus,
  EphemeralEnvironment,
} from "../../../../../../crds/environment/ephemeral-environment.ts";
import { specHash } from "../../../../../../crds/environment/progress.ts";
import { BACKING_SERVICES } from "../../../../../../operator/controllers/environment/backing-services/index.ts";
import { createSchedule } from "../../../../../../operator/controllers/environment/schedule.ts";
import { statusAfter } from "../../../../../../operator/controllers/environment/status/status.ts";
import {
  done,
  type StepResult,
  waiting,
  withFindings,
} from "../../../../../../operator/controllers/environment/step-result.ts";
import { environmentSteps } from "../../../../../../operator/controllers/environment/steps/index.ts";
import { stepDependencies } from "../../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  fixtureSettings,
  minutesLater,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";

/** The result of a waiting step. */
export const soon = { requeueAfterMs: 1 };
const schedule = createSchedule(new TestClock(), 60_000);
const dependencies = stepDependencies({ backingServices: BACKING_SERVICES });
const plan = environmentSteps(dependencies, { probes: schedule, secretChecks: schedule });
/** The conditions of all steps, in order. */
export const stepConditions = plan.map(({ condition }) => condition);
/** Results of finished steps. */
export const allDone = new Map<StepCondition, StepResult>(stepConditions.map((type) => [type, done("Fine")]));
/** Finished steps, except for one. */
export const but = (type: StepCondition, result: StepResult) => new Map(allDone).set(type, result);
/** The desired hash of an application with this commit. */
export const hashOf = (commit: string) => commit.slice(0, 12);
/** A source on `main` at this commit. */
export const sourceOf = (commit: string) => ({ branch: "main", commit });
/** The steps' findings when the application has one commit, and another one runs and answered. */
export const found = (
  applied: string,
  { running, spec }: { running?: string; spec?: Partial<EnvironmentSpec> } = {},
) => ({
  sources: { backend: { resolved: sourceOf(applied), applied: { ...sourceOf(applied), image: "image" } } },
  ...(running === undefined
    ? {}
    : { components: { backend: { commit: running, revision: `0123456789ab+${hashOf(running)}` } } }),
  desiredHash: hashOf(applied),
  renderedSpecHash: specHash(environmentFixture({ spec: { backend: { ...wish, commit: applied }, ...spec } }).spec),
  ...(running === undefined ? {} : { readyAt: CREATED, servingHash: hashOf(running) }),
});
const wish = { repository: "shop-api", branch: "main" };
/** Results of a serving environment. */
export const serving = but("UrlsReady", done("Answering", { findings: found(commitA, { running: commitA }) }));
/** A commit other than `commitA`. */
export const commitB = "b".repeat(40);
/** Results of an environment in an update to `commitB` while `commitA` answers. */
export const updating = but(
  "ApplicationSynced",
  withFindings(waiting("Syncing", "syncing", soon), found(commitB, { running: commitA })),
);

export function judged(
  environment: EphemeralEnvironment,
  results: ReadonlyMap<StepCondition, StepResult>,
  minutes = 1,
): EnvironmentStatus {
  return statusAfter(environment, results, {
    now: minutesLater(minutes),
    settings: fixtureSettings,
    conditions: stepConditions,
  });
}

/** The status of a serving environment. */
export const ready = judged(environmentFixture(), serving);
/** The parts of that environment after its spec has changed to another commit. */
export const updated = {
  spec: { backend: { ...wish, commit: commitB } },
  status: ready,
  metadata: { generation: 2 },
};
/** The status's condition Ready. */
export const readyOf = ({ conditions }: EnvironmentStatus) => findCondition(conditions, "Ready");
