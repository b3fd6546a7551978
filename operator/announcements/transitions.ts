import { type Condition, findCondition } from "../../crds/conditions.ts";
import { HOUR_MS } from "../../crds/durations.ts";
import type { Pipeline } from "../../crds/environment/ephemeral-environment.schema.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { plannedEnd } from "../../crds/environment/lifetime.ts";
import { decidingPipeline } from "../../crds/environment/pipelines.ts";
import { COMPONENTS, type Component } from "../../crds/names.ts";
import type { Announced } from "../../crds/notifications/announced.schema.ts";
import type { MessageEvent } from "../../crds/notifications/notification.ts";
import { present } from "../../crds/present.ts";

/** Next unannounced change of an environment; computed from stored state, never from events. */
export function nextTransition(
  environment: EphemeralEnvironment,
  announced: Announced | undefined,
  context: TransitionContext,
): Transition | undefined {
  if (announced === undefined || announced.event === "unannounced") return firstTransition(environment, announced);
  return (
    readinessTransition(environment, announced) ??
    pipelineTransition(environment, announced) ??
    expiryTransition(environment, announced, context)
  );
}

/** A pipeline that ended so long before an environment is no news with it. */
const OLD_PIPELINE_MS = HOUR_MS;

/** The creation; an environment older than the message settings announces nothing from before them. */
function firstTransition(environment: EphemeralEnvironment, announced: Announced | undefined): Transition {
  const { metadata, status } = environment;
  const created = { event: "created", at: metadata.creationTimestamp } as const;
  if (announced !== undefined || status?.observedGeneration === undefined) {
    const oldMs = Date.parse(metadata.creationTimestamp) - OLD_PIPELINE_MS;
    const pipelines = marksOf(endedPipelines(environment).filter(({ pipeline }) => Date.parse(pipeline.at) < oldMs));
    return { event: "created", about: [metadata.uid, "created"], announced: { ...created, ...present({ pipelines }) } };
  }
  const pipelines = marksOf(endedPipelines(environment));
  return { about: [], announced: { ...created, ...readinessOf(environment), ...present({ pipelines }) } };
}

function readinessTransition(environment: EphemeralEnvironment, announced: Announced): Transition | undefined {
  const { uid } = environment.metadata;
  const found = readinessOf(environment);
  if (found === undefined) return undefined;
  // The environment may serve something else without a stored unready moment.
  const isOther = found.serving !== undefined && found.serving !== announced.serving;
  if (found.at === announced.at && !isOther) return undefined;
  const next = { ...announced, ...found };
  if (found.event === "failed") return { event: "failed", about: [uid, "failed", found.at], announced: next };
  const wasReady = announced.event === "ready" || announced.event === "updated";
  if (!wasReady) return { event: "ready", about: [uid, "ready", found.at], announced: next };
  if (!isOther) return { about: [], announced: next };
  return {
    event: "updated",
    about: [uid, "updated", found.at, found.serving ?? ""],
    announced: { ...next, event: "updated" },
  };
}

/** Failed or ready, with its start; `undefined` in between, and while suspended. */
function readinessOf({ status }: EphemeralEnvironment): (Announced & { event: "ready" | "failed" }) | undefined {
  const ready: Condition | undefined = findCondition(status?.conditions, "Ready");
  if (ready?.status === "False") return { event: "failed", at: ready.lastTransitionTime };
  if (ready?.status !== "True" || !status?.servingHash) return undefined;
  return { event: "ready", at: ready.lastTransitionTime, serving: status.servingHash };
}

/** Several environments may have a pipeline's commit: its messages are named without them, and created once. */
function pipelineTransition(environment: EphemeralEnvironment, announced: Announced): Transition | undefined {
  const isNew = ({ component, pipeline }: EndedPipeline) => {
    const last = announced.pipelines?.[component];
    return last !== markOf(pipeline) && last !== markBeforeAttempts(pipeline);
  };
  const next = endedPipelines(environment).find(isNew);
  if (next === undefined) return undefined;
  const { component } = next;
  const mark = markOf(next.pipeline);
  return {
    event: "pipeline",
    about: ["pipeline", environment.spec[component]?.repository ?? "", mark],
    component,
    announced: { ...announced, pipelines: { ...announced.pipelines, [component]: mark } },
  };
}

interface EndedPipeline {
  readonly component: Component;
  readonly pipeline: Pipeline;
}

function endedPipelines({ spec }: EphemeralEnvironment): readonly EndedPipeline[] {
  return COMPONENTS.flatMap((component) => {
    const pipeline = decidingPipeline(spec[component]?.pipelines ?? []);
    const hasEnded = pipeline?.status === "success" || pipeline?.status === "failed";
    return hasEnded ? [{ component, pipeline }] : [];
  });
}

function marksOf(ended: readonly EndedPipeline[]): Announced["pipelines"] | undefined {
  if (ended.length === 0) return undefined;
  return Object.fromEntries(ended.map(({ component, pipeline }) => [component, markOf(pipeline)]));
}

/** Mark of one end: a pipeline that is run again ends again. */
const markOf = (pipeline: Pipeline) => `${markBeforeAttempts(pipeline)}/${pipeline.attempt ?? pipeline.at}`;

/** Mark as it was stored before it had the attempt: further ends with the same status look the same. */
const markBeforeAttempts = ({ project, id, status }: Pipeline) => `${project}#${id}/${status}`;

/** An unannounced change. */
export interface Transition {
  readonly event?: MessageEvent;
  /** Identity of the change: part of its messages' names. */
  readonly about: readonly string[];
  readonly component?: Component;
  readonly announced: Announced;
}

/** Further input for finding changes. */
export interface TransitionContext {
  readonly now: Date;
  /** Hours before an expiry at which the owner is warned; none without e-mail. */
  readonly warningHours: readonly number[];
}

/** Last due warning before the expiry. Warnings due when the expiry is first seen are skipped: its author knows. */
function expiryTransition(
  environment: EphemeralEnvironment,
  announced: Announced,
  { now, warningHours }: TransitionContext,
): Transition | undefined {
  if (warningHours.length === 0 || environment.status?.expiresAt === undefined) return undefined;
  const expiry = plannedEnd(environment);
  const at = expiry.toISOString();
  const [due] = warningHours.filter((hours) => warningMs(expiry, hours) <= now.getTime()).sort((a, b) => a - b);
  const isKnown = announced.expiry?.at === at;
  const isOver = due === undefined || due >= (announced.expiry?.hours ?? Number.POSITIVE_INFINITY);
  if (isKnown && (isOver || environment.spec.protected)) return undefined;
  const next = { ...announced, expiry: { at, ...present({ hours: due }) } };
  if (!isKnown || due === undefined || expiry <= now) return { about: [], announced: next };
  return { event: "expiry", about: [environment.metadata.uid, "expiry", at, String(due)], announced: next };
}

/** Milliseconds until the next warning, if any. */
export function nextWarningInMs(
  environment: EphemeralEnvironment,
  { now, warningHours }: TransitionContext,
): number | undefined {
  if (environment.spec.protected) return undefined;
  const expiry = plannedEnd(environment);
  const ahead = warningHours.map((hours) => warningMs(expiry, hours) - now.getTime()).filter((ms) => ms > 0);
  return ahead.length === 0 ? undefined : Math.min(...ahead);
}

const warningMs = (expiry: Date, hours: number) => expiry.getTime() - hours * HOUR_MS;
