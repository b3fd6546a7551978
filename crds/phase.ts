import { findCondition } from "./conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment, Phase } from "./ephemeral-environment.ts";

/** Reason of `Ready` when what is wanted did not run in time. */
export const DEADLINE_EXCEEDED = "DeadlineExceeded";

interface Projected {
  readonly metadata: Pick<EphemeralEnvironment["metadata"], "deletionTimestamp">;
  readonly status?: Pick<EnvironmentStatus, "conditions" | "readyAt" | "pursuing"> | undefined;
}

/**
 * The status of the REST contract as a projection of what is known; the first line that matches wins.
 * Stored for printer columns only: the operator never reads it back.
 */
export function phaseOf({ metadata, status }: Projected): Phase {
  if (metadata.deletionTimestamp !== undefined) return "terminating";
  if (findCondition(status?.conditions, "Ready")?.status === "False") return "failed";
  if (status?.readyAt === undefined) return "creating";
  return status.pursuing === undefined ? "ready" : "updating";
}
