import {
  type Condition,
  clipped,
  findCondition,
  type InformationalCondition,
  transition,
} from "../../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { buildOf, pipelineName } from "../../../../crds/environment/pipelines.ts";
import { wantedPipelines } from "../../../../crds/environment/progress.ts";
import { DELETED_BRANCH_ANNOTATION } from "../../../../crds/group.ts";
import { COMPONENTS } from "../../../../crds/names.ts";
import type { Notice } from "../step-result.ts";

const SUSPENDED =
  "the environment is suspended: it is scaled to zero and keeps its secrets and data; set spec.suspended to false to resume it";
const SUSPENDED_IN_PART =
  "the environment is suspended, but the condition ResourcesHealthy names workloads that go on; it keeps its secrets and data; set spec.suspended to false to resume it";

interface Informing {
  readonly now: Date;
  readonly expiryRefusal?: string | undefined;
  readonly notice?: Notice | undefined;
}

/**
 * Conditions that only inform; `environment.status` is the new one, with the conditions of the steps.
 *
 * @param expiryRefusal reason why an expired environment still exists
 * @param notice problem of the application that stops nothing; absent: as before
 */
export function informationalConditions(
  environment: EphemeralEnvironment,
  former: readonly Condition[] | undefined,
  { now, expiryRefusal, notice }: Informing,
): Condition[] {
  const observedGeneration = environment.metadata.generation;
  const inform = (type: InformationalCondition, message: string) =>
    transition(findCondition(former, type), { type, status: "True", reason: type, message, observedGeneration }, now);
  const unwell = findCondition(former, "ResourcesHealthy");
  const { reason, message } = notice ?? unwell ?? { reason: "", message: "" };
  const silent = wantedPipelines(environment).filter((pipeline) => buildOf(pipeline, now) === "silent");
  const silence = silent.map(
    (pipeline) =>
      `${pipelineName(pipeline)} has reported nothing for two hours: the ${pipeline.component}'s commit is deployed without it`,
  );
  return [
    ...(isSuspended(environment, former)
      ? [inform("Suspended", reason === "KeepsRunning" ? SUSPENDED_IN_PART : SUSPENDED)]
      : []),
    ...(silence.length > 0 ? [inform("PipelineSilent", silence.join("; "))] : []),
    ...goneBranches(environment).map((message) => inform("SourceGone", message)),
    ...(message === ""
      ? []
      : [
          transition(
            unwell,
            { type: "ResourcesHealthy", status: "False", reason, message: clipped(message), observedGeneration },
            now,
          ),
        ]),
    ...(expiryRefusal === undefined ? [] : [inform("ExpiryRefused", expiryRefusal)]),
  ];
}

/** One sentence about branches deleted on their hosts, if any. */
function goneBranches({ metadata, spec }: EphemeralEnvironment): readonly string[] {
  const gone = COMPONENTS.filter((component) => {
    const branch = metadata.annotations?.[DELETED_BRANCH_ANNOTATION[component]];
    return branch !== undefined && branch === spec[component]?.branch;
  });
  if (gone.length === 0) return [];
  const branches = gone.map((component) => `the ${component}'s branch '${spec[component]?.branch}'`).join(" and ");
  return [`${branches} was deleted on its host: what runs stays, and nothing newer will come from it`];
}

/** True once the application is scaled to zero; an update while suspended does not change that. */
function isSuspended(
  { metadata, spec, status }: EphemeralEnvironment,
  former: readonly Condition[] | undefined,
): boolean {
  if (!spec.suspended) return false;
  const synced = findCondition(status?.conditions, "ApplicationSynced");
  const isScaled = synced?.status === "True" && synced.observedGeneration === metadata.generation;
  return isScaled || findCondition(former, "Suspended") !== undefined;
}
