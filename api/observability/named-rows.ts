import type { Life } from "../../crds/environment/life.ts";
import {
  type Dimension,
  NO_TALLY,
  NONE,
  OTHERS,
  type Rows,
  sumOfTallies,
  type Tally,
} from "../../operator/ports/observability/summary.ts";
import { type Caller, mayRead } from "../auth/access.ts";
import type { Services } from "../services.ts";

/** The rows of a dimension as a caller may see them. */
export interface NamedRows {
  /** `null`: environments that have none of it. */
  readonly named: readonly { readonly id: string | null; readonly tally: Tally }[];
  /** The sum of all others. */
  readonly other: Tally;
}

type Used = Pick<Services, "repositories" | "configSets">;

/**
 * Names what the caller may see anyway: Repositories and config sets by their groups, of people below maintainers oneself.
 * The rest is summed up, so that the parts are the whole.
 */
export function namedRows(rows: Rows, dimension: Dimension, caller: Caller, services: Used): NamedRows {
  const isVisible = visibleNames(dimension, caller, services);
  const [named, others]: [string, Tally][][] = [[], []];
  for (const row of rows) (row[0] !== OTHERS && isVisible(row[0]) ? named : others)?.push(row);
  return {
    named: (named ?? []).map(([name, tally]) => ({ id: name === NONE ? null : name, tally })),
    other: (others ?? []).length === 0 ? NO_TALLY : sumOfTallies((others ?? []).map(([, tally]) => tally)),
  };
}

/** Who may see an environment that lives, or lived: for `visibleTo`. */
export const rightsTo = ({ owner, groups }: Life) => ({ ...(owner && { owner }), access: { groups: [...groups] } });

function visibleNames(dimension: Dimension, caller: Caller, { repositories, configSets }: Used) {
  if (dimension === "trigger" || caller.permissions.has("environments:all")) return () => true;
  if (dimension === "creator") return (subject: string) => subject === caller.subject;
  const readable =
    dimension === "repository"
      ? repositories.list().filter((one) => mayRead(caller, one, "repos:reload"))
      : configSets.list().filter((one) => mayRead(caller, one, "configs:write"));
  const names = new Set([NONE, ...readable.map(({ metadata }) => metadata.name)]);
  return (name: string) => names.has(name);
}
