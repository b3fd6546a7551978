import { type Condition, findCondition, type InformationalCondition, transition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { buildOf } from "../../crds/environment/pipelines.ts";
import { wantedPipelines } from "./progress.ts";

const ASLEEP = "scaled to zero; secrets and data stay, and it wakes when spec.suspended is false";

/**
 * What users should know although no step failed. `environment.status` holds what the pass found and judged.
 *
 * @param expiryRefusal why it is still there although its time is up, where that is so
 */
export function informationalConditions(
  environment: EphemeralEnvironment,
  former: readonly Condition[] | undefined,
  { now, expiryRefusal }: { readonly now: Date; readonly expiryRefusal?: string | undefined },
): Condition[] {
  const notice = (type: InformationalCondition, message: string) =>
    transition(
      findCondition(former, type),
      { type, status: "True", reason: type, message, observedGeneration: environment.metadata.generation },
      now,
    );
  const silent = wantedPipelines(environment).filter((pipeline) => buildOf(pipeline, now) === "silent");
  const silence = silent.map(
    ({ component, id, project }) =>
      `pipeline ${id} of ${project} said nothing for two hours: the ${component}'s commit is deployed without it`,
  );
  return [
    ...(isAsleep(environment, former) ? [notice("Suspended", ASLEEP)] : []),
    ...(silence.length > 0 ? [notice("PipelineSilent", silence.join("; "))] : []),
    ...(expiryRefusal === undefined ? [] : [notice("ExpiryRefused", expiryRefusal)]),
  ];
}

/** From when its application runs as it should asleep; an update does not wake it. */
function isAsleep({ metadata, spec, status }: EphemeralEnvironment, former: readonly Condition[] | undefined): boolean {
  if (!spec.suspended) return false;
  const synced = findCondition(status?.conditions, "ApplicationSynced");
  const isScaled = synced?.status === "True" && synced.observedGeneration === metadata.generation;
  return isScaled || findCondition(former, "Suspended") !== undefined;
}
