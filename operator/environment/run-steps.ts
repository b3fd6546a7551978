import type { StepCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { isConflict } from "../kit/client/errors.ts";
import { errorResult, retrying } from "./error-results.ts";
import {
  Interrupted,
  type Step,
  type StepContext,
  type StepResult,
  type StepResults,
  type Unfinished,
} from "./step.ts";

/** What steps may use, but for what only the walk can tell them. */
export type RunContext = Omit<StepContext, "earlier" | "passes">;

/** What a walk over the steps came to; an error is transient and asks for another pass. */
export interface StepsOutcome {
  readonly results: StepResults;
  readonly error: unknown;
}

/** Takes every step whose needs are done, side by side where they don't need each other. The plan lists needs first. */
export async function runSteps(
  plan: readonly Step[],
  environment: EphemeralEnvironment,
  outside: RunContext,
): Promise<StepsOutcome> {
  const results = new Map<StepCondition, StepResult>();
  const errors: unknown[] = [];
  const taken = new Map<StepCondition, Promise<void>>();
  const passes = async (condition: StepCondition) => {
    await taken.get(condition);
    return isPassable(condition);
  };
  const context: StepContext = { ...outside, earlier: results, passes };

  let known = { environment, results: 0 };
  /** One object for all steps that know the same of it: what one computes of it need not be computed again. */
  const asKnown = () => {
    if (known.results < results.size)
      known = { environment: withFindings(environment, results), results: results.size };
    return known.environment;
  };

  const isPassable = (condition: StepCondition) => {
    const result = results.get(condition);
    if (result?.state === "done") return true;
    const step = plan.find((one) => one.condition === condition);
    return step?.continueWithPrevious?.(asKnown(), context, result) === true;
  };

  const take = async (step: Step) => {
    await Promise.all(step.after.map((condition) => taken.get(condition)));
    const isDue = step.after.every(isPassable);
    if (!isDue && !step.alwaysRun?.(environment)) return;
    const { result, error } = await attempt(step, asKnown(), context);
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
  } catch (caught) {
    if (!(caught instanceof Interrupted)) return stopped(caught);
    const { error, result } = stopped(caught.cause);
    return { error, ...(result === undefined ? {} : { result: { ...result, findings: caught.findings } }) };
  }
}

function stopped(error: unknown): { result?: Unfinished; error?: unknown } {
  const result = errorResult(error);
  if (result !== undefined) return { result };
  return isConflict(error) ? { error } : { error, result: retrying(error) };
}

/** The environment as the steps so far would have it. */
function withFindings(environment: EphemeralEnvironment, results: StepResults): EphemeralEnvironment {
  const findings = [...results.values()].map((result) => result.findings);
  return { ...environment, status: Object.assign({}, environment.status, ...findings) };
}
