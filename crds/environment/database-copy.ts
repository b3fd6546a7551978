import { desiredGeneration, madeGeneration } from "./database-generation.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";
import { asRun } from "./sleep.ts";

/**
 * Name of the environment that this one's database is still to be copied from; `undefined` without a copy, once it is made,
 * and while nothing may run.
 */
export function pendingCopySource(environment: EphemeralEnvironment): string | undefined {
  const { database, suspended } = asRun(environment).spec;
  if (database?.from === undefined || !database.provision || suspended) return undefined;
  if (environment.metadata.deletionTimestamp !== undefined) return undefined;
  return madeGeneration(environment) === desiredGeneration(environment) ? undefined : database.from.environment;
}

type Readers = Pick<EphemeralEnvironment["spec"], "owner" | "access">;

/**
 * True when everyone who may see the copy may see its source: all its groups are the source's, and without any, both have the
 * same owner. An owner, and groups of others, need the right to assign environments.
 */
export function mayCopyDatabase(copy: Readers, source: Readers): boolean {
  const groups = copy.access?.groups ?? [];
  if (!groups.every((group) => source.access?.groups?.includes(group))) return false;
  return groups.length > 0 || (copy.owner !== undefined && copy.owner.subject === source.owner?.subject);
}
