import type { StepCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isConflict } from "../../kit/client/errors.ts";
import { equalJson } from "../../kit/equal-json.ts";
import { errorResult, retrying } from "./error-results.ts";
import type { Step, StepContext } from "./step.ts";
import { type Findings, type StepResult, type StepResults, withFindings } from "./step-result.ts";

/**
 * Runs every step whose `after` steps are done; independent steps run in parallel.
 *
 * @param plan a step comes after the steps that it needs
 * @param signal aborts when the reconcile must stop: its deadline has passed, or this process is no longer the leader
 * @returns `error`: a transient one, to be retried with backoff
 */
export async function runSteps(
  plan: readonly Step[],
  environment: EphemeralEnvironment,
  signal: AbortSignal,
): Promise<{ readonly results: StepResults; readonly error: unknown }> {
  const results = new Map<StepCondition, StepResult>();
  const errors: unknown[] = [];
  const started = new Map<StepCondition, Promise<void>>();
  const canContinueAfter = async (condition: StepCondition) => {
    await started.get(condition);
    return isPassable(condition);
  };
  const context: StepContext = { earlier: results, canContinueAfter };

  /** Object of this run, shared by all steps until one has findings, so that it can key caches. */
  let current: EphemeralEnvironment = { ...environment };

  const isPassable = (condition: StepCondition) => {
    const result = results.get(condition);
    if (result?.state === "done") return true;
    const step = plan.find((one) => one.condition === condition);
    return step?.continueWithPrevious?.(current, result) === true;
  };

  const start = async (step: Step) => {
    await Promise.all(step.after.map((condition) => started.get(condition)));
    if (!step.after.every(isPassable) && !step.alwaysRun?.(environment)) return;
    const { result, error } = await attempt(step, { environment: current, context, signal });
    if (error !== undefined) errors.push(error);
    if (result === undefined) return;
    results.set(step.condition, result);
    current = withFindingsOf(current, result.findings);
  };
  for (const step of plan) started.set(step.condition, start(step));
  await Promise.all(started.values());
  errors.push(...(await cleanUp(plan, results, { environment: current, context, signal })));
  return { results, error: errors[0] };
}

interface Run {
  readonly environment: EphemeralEnvironment;
  readonly context: StepContext;
  readonly signal: AbortSignal;
}

/** A conflict has no result: its write enqueues the environment again. */
async function attempt(step: Step, { environment, context, signal }: Run) {
  try {
    signal.throwIfAborted();
    const result = await step.run(environment, context);
    requireOwn(step, result.findings);
    return result.state === "waiting" ? { result, error: result.error } : { result };
  } catch (error) {
    const result = errorResult(error);
    if (result !== undefined) return { result };
    return isConflict(error) ? { error } : { error, result: retrying(error) };
  }
}

/** @throws Error when a step finds a field that it does not write */
function requireOwn({ condition, writes }: Step, findings: Findings = {}): void {
  const foreign = Object.keys(findings).filter((field) => !writes.some((own) => own === field));
  if (foreign.length > 0) throw new Error(`the step of ${condition} does not write ${foreign.join(", ")}`);
}

/** Adds the findings of every clean-up to its step's result; returns the errors. */
async function cleanUp(
  plan: readonly Step[],
  results: Map<StepCondition, StepResult>,
  { environment, context, signal }: Run,
): Promise<unknown[]> {
  const errors: unknown[] = [];
  for (const step of plan) {
    const result = results.get(step.condition);
    if (step.cleanUp === undefined || result === undefined || signal.aborted) continue;
    try {
      const findings = await step.cleanUp(environment, context);
      requireOwn(step, findings);
      results.set(step.condition, withFindings(result, findings));
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}

/** The environment with a step's findings; the same object when its status has them, as in most reconciles. */
function withFindingsOf(environment: EphemeralEnvironment, findings: Findings = {}): EphemeralEnvironment {
  const { status } = environment;
  const isNew = Object.entries(findings).some(([field, value]) => !equalJson(status?.[field as keyof Findings], value));
  return isNew ? { ...environment, status: { ...status, ...findings } } : environment;
}
