import type { StepCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { isConflict } from "../kit/kube-errors.ts";
import { refusalResult, retrying } from "./refusals.ts";
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

  const isPassable = (condition: StepCondition) => {
    const result = results.get(condition);
    if (result?.state === "done") return true;
    const step = plan.find((one) => one.condition === condition);
    return step?.stands?.(withFindings(environment, results), context, result) === true;
  };

  const take = async (step: Step) => {
    await Promise.all(step.after.map((condition) => taken.get(condition)));
    const isDue = step.after.every(isPassable);
    if (!isDue && !step.persists?.(environment)) return;
    const { result, error } = await attempt(step, withFindings(environment, results), context);
    if (error !== undefined) errors.push(error);
    if (result !== undefined) results.set(step.condition, result);
  };
  for (const step of plan) taken.set(step.condition, take(step));
  await Promise.all(taken.values());
  return { results, error: errors[0] };
}

/** A refusal is a result; a conflict is none, because somebody else's write is about to tell more. */
async function attempt(
  step: Step,
  environment: EphemeralEnvironment,
  context: StepContext,
): Promise<{ result?: StepResult; error?: unknown }> {
  try {
    context.signal.throwIfAborted();
    return { result: await step.run(environment, context) };
  } catch (error) {
    const result = refusalResult(error);
    if (result !== undefined) return { result };
    return isConflict(error) ? { error } : { error, result: retrying(error) };
  }
}

/** The environment as the steps so far would have it. */
function withFindings(environment: EphemeralEnvironment, results: StepResults): EphemeralEnvironment {
  const findings = [...results.values()].map((result) => result.findings);
  return { ...environment, status: Object.assign({}, environment.status, ...findings) };
}
