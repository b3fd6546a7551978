import type { EnvironmentCondition, EnvironmentReport } from "../../sdk/index.ts";
import { durationText } from "../parts/words.ts";

export type StepState = "done" | "waiting" | "failed";

/** A step of an environment on the screen. */
export interface Step {
  readonly type: string;
  readonly name: string;
  readonly state: StepState;
  /** Duration or wait; `undefined` if unknown. */
  readonly duration: string | undefined;
  /** Problem and remedy; empty when it is done. */
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

/** Name of a condition for people. */
export const conditionName = (type: string) => NAMES[type] ?? type;

/** Conditions that are no steps: the summary, and informational ones. */
const NO_STEPS = new Set([
  "Ready",
  "Suspended",
  "Asleep",
  "ActivityUnknown",
  "PipelineSilent",
  "SourceGone",
  "ResourcesHealthy",
  "ExpiryRefused",
]);
/** Longest step of a creation; a later end means a repetition. */
const LONGEST_MS = 3_600_000;

const at = ({ last_transition_time }: EnvironmentCondition) => Date.parse(last_transition_time);

/**
 * Steps in the order of their ends, unfinished ones last. A duration begins at the end of the step before: of parallel
 * steps, that is what the later one added.
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
