import { findCondition } from "../conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment, Phase } from "./ephemeral-environment.ts";

/** Reason of `Ready` after the rollout's deadline. */
export const DEADLINE_EXCEEDED = "DeadlineExceeded";
/** Reason of `SourceResolved` while a desired commit's pipeline is running. */
export const BUILDING = "Building";

interface Projected {
  readonly metadata: Pick<EphemeralEnvironment["metadata"], "deletionTimestamp">;
  readonly status?: Pick<EnvironmentStatus, "conditions" | "readyAt"> | undefined;
}

/** Status of the REST contract, from the conditions. Stored only for printer columns; the operator never reads it. */
export function phaseOf({ metadata, status }: Projected): Phase {
  if (metadata.deletionTimestamp !== undefined) return "terminating";
  const ready = findCondition(status?.conditions, "Ready")?.status;
  if (ready === "False") return "failed";
  if (findCondition(status?.conditions, "SourceResolved")?.reason === BUILDING) return "building";
  if (ready === "True") return "ready";
  return status?.readyAt === undefined ? "creating" : "updating";
}

/** Phase for users: the stored one, or `terminating` from the deletion request on. */
export function shownPhase({ metadata, status }: EphemeralEnvironment): Phase {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? "creating") : "terminating";
}
