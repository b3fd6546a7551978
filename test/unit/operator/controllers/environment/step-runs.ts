import type { StepCondition } from "../../../../../crds/conditions.ts";
import { EnvironmentStatus } from "../../../../../crds/environment/environment-status.schema.ts";
import { runSteps } from "../../../../../operator/controllers/environment/run-steps.ts";
import type { Step } from "../../../../../operator/controllers/environment/step.ts";
import type { StepResult } from "../../../../../operator/controllers/environment/step-result.ts";
import { environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

/** A signal that does not abort. */
export const endless = new AbortController().signal;

/** A step with this result, or with this work, which may write every field. */
export function step(condition: StepCondition, after: StepCondition[], run: Step["run"] | StepResult): Step {
  return { condition, writes: ALL, after, run: typeof run === "function" ? run : async () => run };
}

const ALL = Object.keys(EnvironmentStatus.properties) as (keyof EnvironmentStatus)[];

/** The states of a run of these steps, its results and its error. */
export const statesOf = async (plan: readonly Step[]) => {
  const { results, error } = await runSteps(plan, environmentFixture(), endless);
  return { states: Object.fromEntries([...results].map(([type, { state }]) => [type, state])), results, error };
};
