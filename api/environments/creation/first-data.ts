import { mayCopyDatabase } from "../../../crds/environment/database-copy.ts";
import { type EnvironmentSpec, hasDatabase } from "../../../crds/environment/ephemeral-environment.ts";
import type { Violation } from "../../../crds/errors.ts";
import type { Caller } from "../../auth/access.ts";
import type { Services } from "../../services.ts";
import { findVisible } from "../visible-environment.ts";
import type { CreateReportRequest } from "./schemas.ts";

/** The environment to be made, as far as its data depends on it. */
interface Target {
  readonly hasDatabase: boolean;
  /** True when its chart has values of its own: only the platform's layout loads data. */
  readonly isMapped: boolean;
  readonly readers: Pick<EnvironmentSpec, "owner" | "access">;
  readonly caller: Caller;
}

/** Data of a new database. */
export interface FirstData {
  /** Origin of the data, for the spec. */
  readonly origin: Pick<NonNullable<EnvironmentSpec["database"]>, "seed" | "from">;
  readonly violations: readonly Violation[];
}

/**
 * The data that the database of a new environment begins with, and why it can't.
 *
 * @throws ClusterUnavailable
 */
export async function firstDataOf(
  { database_seed: seed, database_from: from }: CreateReportRequest,
  target: Target,
  services: Pick<Services, "environments">,
): Promise<FirstData> {
  if (seed === undefined && from === undefined) return { origin: {}, violations: [] };
  const field = from === undefined ? "database_seed" : "database_from";
  const refused = (message: string) => ({ origin: {}, violations: [{ field, message }] });
  if (seed !== undefined && from !== undefined)
    return refused("can't be given beside database_seed: leave one of them out");
  if (!target.hasDatabase) return refused("needs a database: set provision_database, too");
  if (target.isMapped) return refused("is nothing that a chart with values of its own can load");
  if (from === undefined) return { origin: { ...(seed && { seed }) }, violations: [] };
  const source = await copyable(from, target, services);
  return typeof source === "string"
    ? refused(source)
    : { origin: { from: { environment: source.name } }, violations: [] };
}

/** The environment that the copy comes from, or why it can't be copied. */
async function copyable(
  idOrName: string,
  { caller, readers }: Target,
  services: Pick<Services, "environments">,
): Promise<{ readonly name: string } | string> {
  const source = await findVisible(idOrName, caller, services);
  if (source === undefined) return "names no environment that you can see";
  if (!hasDatabase(source)) return "names an environment without a database";
  if (mayCopyDatabase(readers, source.spec)) return { name: source.metadata.name };
  return readers.access?.groups.length === 0
    ? "names an environment of another owner, and the Repositories of this one share no group with it"
    : "names an environment that not everyone may see who may see this one: the groups of its Repositories have to be groups of that environment";
}
