import type { StepCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { isConflict } from "../kit/kube-errors.ts";
import type { StepResults } from "./status.ts";
import type { Step, StepContext, StepResult } from "./step.ts";

/** What a walk over the steps came to; an error is transient and asks for another pass. */
export interface Walk {
  readonly results: StepResults;
  readonly error: unknown;
}

/** Takes every step whose needs are done, side by side where they don't need each other. The plan lists needs first. */
export async function walk(
  plan: readonly Step[],
  environment: EphemeralEnvironment,
  context: StepContext,
): Promise<Walk> {
  const results = new Map<StepCondition, StepResult>();
  const errors: unknown[] = [];
  const taken = new Map<StepCondition, Promise<void>>();

  const take = async (step: Step) => {
    await Promise.all(step.after.map((condition) => taken.get(condition)));
    if (!step.after.every((condition) => results.get(condition)?.state === "done")) return;
    try {
      results.set(step.condition, await step.run(withFindings(environment, results), context));
    } catch (error) {
      errors.push(error);
      if (!isConflict(error)) results.set(step.condition, retrying(error));
    }
  };
  for (const step of plan) taken.set(step.condition, take(step));
  await Promise.all(taken.values());
  return { results, error: errors[0] };
}

/** The environment as the steps so far would have it. */
function withFindings(environment: EphemeralEnvironment, results: StepResults): EphemeralEnvironment {
  const findings = [...results.values()].map((result) => result.findings);
  return { ...environment, status: Object.assign({}, environment.status, ...findings) };
}

/** The controller decides when to try again; the sentence is what its message holds, which is safe to show. */
function retrying(error: unknown): StepResult {
  const message = error instanceof Error ? error.message : "unknown error";
  return { state: "waiting", reason: "Retrying", message, recheckAfterMs: 300_000 };
}
