import type { EnvironmentCondition, EnvironmentReport } from "../../sdk/index.ts";
import { durationText } from "../parts/words.ts";

export type StepState = "done" | "waiting" | "failed";

/** A step of an environment as it is shown. */
export interface Step {
  /** The condition's type. */
  readonly type: string;
  /** What it is about, for people. */
  readonly name: string;
  readonly state: StepState;
  /** How long it took, or how long it has been waited for; `undefined` where that is not known. */
  readonly duration: string | undefined;
  /** What is wrong or waited for, and what to do; empty for what is done. */
  readonly message: string;
  readonly reason: string;
}

const NAMES: Readonly<Record<string, string>> = {
  NamespaceReady: "Namespace",
  ConfigurationResolved: "Configuration",
  IsolationReady: "Isolation",
  SecretsReady: "Secrets",
  SourceResolved: "Source",
  DatabaseReady: "Database",
  ApplicationSynced: "Application",
  UrlsReady: "Addresses",
  ResourcesHealthy: "Other objects",
  Ready: "All steps",
};

/** What a condition is about, for people. */
export const conditionName = (type: string) => NAMES[type] ?? type;

/** Conditions that are no steps: the sum of them, and what only informs. */
const NO_STEPS = new Set(["Ready", "Suspended", "PipelineSilent", "SourceGone", "ResourcesHealthy", "ExpiryRefused"]);
/** A step of the creation does not take longer; one that was done later was done again. */
const LONGEST_MS = 3_600_000;

const at = ({ last_transition_time }: EnvironmentCondition) => Date.parse(last_transition_time);

/**
 * The steps in the order in which they were done, those that are not done last. How long one took is counted from the
 * end of the one before it: of those that run side by side, that is what the later one added.
 */
export function stepsOf(
  { conditions, created_at, status }: Pick<EnvironmentReport, "conditions" | "created_at" | "status">,
  now: number,
): readonly Step[] {
  const steps = conditions.filter(({ type }) => !NO_STEPS.has(type));
  const done = steps.filter(isDone).toSorted((one, other) => at(one) - at(other));
  const open = steps.filter((step) => !isDone(step));
  const finished = done.map((step, index) => {
    const former = done[index - 1];
    const took = at(step) - (former === undefined ? Date.parse(created_at) : at(former));
    return shown(step, "done", took >= 0 && took < LONGEST_MS ? took : undefined);
  });
  const left = open.map((step) =>
    shown(step, isFailed(step, status) ? "failed" : "waiting", Math.max(0, now - at(step))),
  );
  return [...finished, ...left];
}

/** Conditions that inform beside the steps, while they hold. */
export function remarksOf(conditions: readonly EnvironmentCondition[]): readonly EnvironmentCondition[] {
  return conditions.filter(({ type, status }) => type !== "Ready" && NO_STEPS.has(type) && status === "True");
}

const isDone = ({ status }: EnvironmentCondition) => status === "True";
const isFailed = ({ status }: EnvironmentCondition, phase: EnvironmentReport["status"]) =>
  status === "False" && phase === "failed";

function shown(
  { type, message, reason }: EnvironmentCondition,
  state: StepState,
  durationMs: number | undefined,
): Step {
  const duration = durationMs === undefined ? undefined : durationText(durationMs);
  return { type, name: conditionName(type), state, duration, message: state === "done" ? "" : message, reason };
}
