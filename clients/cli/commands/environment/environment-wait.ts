/** Waits for a state over an environment's stream. */
import type { EnvironmentReport } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { EXIT, Failure } from "../../failure.ts";
import { followed } from "../../following.ts";
import { plainLine } from "../../output/plain.ts";
import { progressOn } from "../../output/progress.ts";
import { spanOf } from "../../output/times.ts";
import { settledState } from "../../settled-state.ts";

const STREAM = "GET /api/v2/environments/{environment_id}/stream";

/** Goals of a wait. */
export const GOALS = ["ready", "asleep", "deleted"] as const;
export type Goal = (typeof GOALS)[number];

interface Wait {
  readonly goal: Goal;
  /** Another goal that ends the wait as well. */
  readonly orGoal?: Goal;
  /** Ends only the wait; the platform continues. */
  readonly timeoutSeconds: number;
  /** Called with each state (default: progress on stderr). */
  readonly show?: (report: EnvironmentReport) => void;
}

/**
 * Follows an environment until the goal; returns its last state, `undefined` when it is gone.
 *
 * @param id its id, because names are reused
 * @throws Failure when it failed, when it is deleted instead, and when it takes too long
 */
export async function waitFor(context: Context, id: string, wait: Wait): Promise<EnvironmentReport | undefined> {
  const { goal, orGoal, timeoutSeconds, show = progressOn(context.process.stderr) } = wait;
  const tooLong = AbortSignal.timeout(timeoutSeconds * 1000);
  const signal = AbortSignal.any([tooLong, context.interrupted]);
  let last: EnvironmentReport | undefined;
  try {
    for await (const { data } of followed(context, STREAM, { path: { environment_id: id }, signal })) {
      last = data;
      show(data);
      if (isReached(data, goal) || (orGoal !== undefined && isReached(data, orGoal))) return data;
    }
  } catch (error) {
    if (signal.aborted) throw givenUp(context, { last, id, goal, timeoutSeconds });
    throw error;
  }
  if (goal === "deleted") return undefined;
  throw new Failure(EXIT.notFound, `${nameOf(last, id)} was deleted while it was waited for`);
}

/** @throws Failure when only a change by a person can reach it */
function isReached(report: EnvironmentReport, goal: Goal): boolean {
  const state = goal === "deleted" ? undefined : settledState(report);
  if (state === "failed") throw new Failure(EXIT.environmentFailed, whyItFailed(report));
  return state === goal;
}

/** False without failing an environment. */
const NO_STEPS = ["Ready", "ResourcesHealthy"];

/** Failed steps, with their cause. */
export function whyItFailed({ name, conditions }: EnvironmentReport): string {
  const failed = conditions.filter(({ type, status }) => status === "False" && !NO_STEPS.includes(type));
  const shown = failed.length > 0 ? failed : conditions.filter(({ type }) => type === "Ready");
  const lines = shown.map(({ type, message, reason }) => `\n  ${plainLine(type)}: ${plainLine(message || reason)}`);
  return `${plainLine(name)} failed${lines.join("")}`;
}

interface Given {
  readonly last: EnvironmentReport | undefined;
  readonly id: string;
  readonly goal: Goal;
  readonly timeoutSeconds: number;
}

function givenUp({ interrupted }: Context, { last, id, goal, timeoutSeconds }: Given): Failure {
  const goesOn = `it goes on: eenv wait ${nameOf(last, id)} --for ${goal}`;
  if (interrupted.aborted) return new Failure(EXIT.interrupted, `interrupted; ${goesOn}`);
  return new Failure(EXIT.notYet, `not ${goal} within ${spanOf(timeoutSeconds * 1000)}; ${goesOn}`);
}

const nameOf = (report: EnvironmentReport | undefined, id: string) => plainLine(report?.name ?? id);
