import { findCondition, STEP_CONDITIONS } from "./conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment, Phase } from "./ephemeral-environment.ts";

/** Reason of `ApplicationSynced` while the wanted values or revision differ from the running ones. */
export const UPDATING = "Updating";
/** Reason of `Ready` when the environment did not become ready in time. */
export const DEADLINE_EXCEEDED = "DeadlineExceeded";

interface Projected {
  readonly metadata: Pick<EphemeralEnvironment["metadata"], "deletionTimestamp">;
  readonly status?: Pick<EnvironmentStatus, "conditions" | "readyAt"> | undefined;
}

/**
 * The status of the REST contract as a projection of the conditions; the first line that matches wins.
 * Stored for printer columns only: the operator never reads it back.
 */
export function phaseOf({ metadata, status }: Projected): Phase {
  const conditions = status?.conditions;
  if (metadata.deletionTimestamp !== undefined) return "terminating";
  if (STEP_CONDITIONS.some((type) => findCondition(conditions, type)?.status === "False")) return "failed";
  if (findCondition(conditions, "Ready")?.reason === DEADLINE_EXCEEDED) return "failed";
  if (status?.readyAt === undefined) return "creating";
  if (findCondition(conditions, "ApplicationSynced")?.reason === UPDATING) return "updating";
  return "ready";
}
