import { findCondition } from "../conditions.ts";
import type { SpecAndStatus } from "./ephemeral-environment.ts";

/** Number of the database that the spec asks for. */
export function desiredGeneration({ spec }: Pick<SpecAndStatus, "spec">): number {
  return spec.database?.generation ?? 1;
}

/**
 * Number of the database that there is; `undefined` before it is made.
 *
 * An older version of the platform has noted only that the database is ready.
 */
export function madeGeneration({ status }: Pick<SpecAndStatus, "status">): number | undefined {
  const { status: ready, reason } = findCondition(status?.conditions, "DatabaseReady") ?? {};
  const { made = ready === "True" && reason === "Ready", generation = 1 } = status?.database ?? {};
  return made ? generation : undefined;
}

/** Reasons of `DatabaseReady` while nothing is in the way. */
const CALM_REASONS: readonly string[] = [
  "Ready",
  "Suspended",
  "Starting",
  "ReadingSeed",
  "Seeding",
  "Copying",
  "WaitingForCopySource",
];

/** True while the database is still to be made, for the first time or anew, and nothing is in the way. */
export function isMakingDatabase(environment: SpecAndStatus): boolean {
  if (madeGeneration(environment) === desiredGeneration(environment)) return false;
  const { reason } = findCondition(environment.status?.conditions, "DatabaseReady") ?? {};
  return reason === undefined || CALM_REASONS.includes(reason);
}
