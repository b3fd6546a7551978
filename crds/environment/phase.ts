import { findCondition } from "../conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment, Phase } from "./ephemeral-environment.ts";

/** Reason of `Ready` when what is wanted did not run in time. */
export const DEADLINE_EXCEEDED = "DeadlineExceeded";
/** Reason of `SourceResolved` while the pipeline of a wanted commit runs. */
export const BUILDING = "Building";

interface Projected {
  readonly metadata: Pick<EphemeralEnvironment["metadata"], "deletionTimestamp">;
  readonly status?: Pick<EnvironmentStatus, "conditions" | "readyAt"> | undefined;
}

/**
 * The status of the REST contract as a projection of what is known; the first line that matches wins.
 * Stored for printer columns only: the operator never reads it back.
 */
export function phaseOf({ metadata, status }: Projected): Phase {
  if (metadata.deletionTimestamp !== undefined) return "terminating";
  const ready = findCondition(status?.conditions, "Ready")?.status;
  if (ready === "False") return "failed";
  if (findCondition(status?.conditions, "SourceResolved")?.reason === BUILDING) return "building";
  if (ready === "True") return "ready";
  return status?.readyAt === undefined ? "creating" : "updating";
}

/** The phase that users are shown: the stored one, and a deletion at once, before the operator has seen it. */
export function shownPhase({ metadata, status }: EphemeralEnvironment): Phase {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? "creating") : "terminating";
}
