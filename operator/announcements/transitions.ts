import { type Condition, findCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { decidingPipeline } from "../../crds/environment/pipelines.ts";
import { COMPONENTS } from "../../crds/names.ts";
import type { Announced } from "../../crds/notifications/announced.schema.ts";
import { expiryTransition } from "./expiry-warnings.ts";
import type { Transition, TransitionContext } from "./transition.ts";

/** The next change of an environment that was not announced; computed from what is stored, never from events. */
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

/** The creation; of an environment that is older than the settings for messages, nothing that was before them is told. */
function firstTransition(environment: EphemeralEnvironment, announced: Announced | undefined): Transition {
  const { metadata, status } = environment;
  const created = { event: "created", at: metadata.creationTimestamp } as const;
  if (announced !== undefined || status?.observedGeneration === undefined) {
    return { event: "created", about: [metadata.uid, "created"], announced: created };
  }
  return { about: [], announced: { ...created, ...readinessOf(environment), pipelines: endedPipelines(environment) } };
}

function readinessTransition(environment: EphemeralEnvironment, announced: Announced): Transition | undefined {
  const { uid } = environment.metadata;
  const found = readinessOf(environment);
  if (found === undefined) return undefined;
  // It may serve something else without a stored moment of not being ready.
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

/** Whether it failed or is ready, and since when; `undefined` while it is on its way there, or suspended. */
function readinessOf({ status }: EphemeralEnvironment): (Announced & { event: "ready" | "failed" }) | undefined {
  const ready: Condition | undefined = findCondition(status?.conditions, "Ready");
  if (ready?.status === "False") return { event: "failed", at: ready.lastTransitionTime };
  if (ready?.status !== "True" || !status?.servingHash) return undefined;
  return { event: "ready", at: ready.lastTransitionTime, serving: status.servingHash };
}

/** Several environments may have the commit of one pipeline: its messages are named without them, and made once. */
function pipelineTransition(environment: EphemeralEnvironment, announced: Announced): Transition | undefined {
  const ended = endedPipelines(environment);
  const component = COMPONENTS.find((one) => ended[one] !== undefined && ended[one] !== announced.pipelines?.[one]);
  if (component === undefined) return undefined;
  const mark = ended[component] ?? "";
  return {
    event: "pipeline",
    about: ["pipeline", environment.spec[component]?.repository ?? "", mark],
    component,
    announced: { ...announced, pipelines: { ...announced.pipelines, [component]: mark } },
  };
}

/** The pipelines by which a build succeeded or failed, by component. */
function endedPipelines({ spec }: EphemeralEnvironment): NonNullable<Announced["pipelines"]> {
  const marks = COMPONENTS.flatMap((component) => {
    const pipeline = decidingPipeline(spec[component]?.pipelines ?? []);
    const hasEnded = pipeline?.status === "success" || pipeline?.status === "failed";
    return hasEnded ? [[component, `${pipeline.project}#${pipeline.id}/${pipeline.status}`]] : [];
  });
  return Object.fromEntries(marks);
}
