import type { Settings } from "../../config/settings.ts";
import { oncePer } from "../../crds/once-per.ts";
import { type Dimension, NONE, OTHERS, type Rows, sumOfTotals, type Totals } from "../../crds/usage/period-summary.ts";
import type { UsageRecord } from "../../crds/usage/usage-record.ts";
import type { ConfigSets } from "../../operator/ports/config-sets.ts";
import type { Repositories } from "../../operator/ports/repositories.ts";
import { type Caller, mayRead } from "../auth/access.ts";

/** A row of a dimension for a caller. */
export interface NamedRow {
  /** `null`: no value, or the sum of all unnamed ones. */
  readonly id: string | null;
  readonly kind: "named" | "none" | "other";
  readonly totals: Totals;
}

/** The resources by whose groups a caller may see names. */
export interface NamedResources {
  readonly repositories: Repositories;
  readonly configSets: ConfigSets;
}

/** Services of reports with names and prices. */
export interface ReportServices extends NamedResources {
  readonly settings: Settings;
}

/**
 * Names only what the caller may see: Repositories and config sets by their groups; below maintainers, no people but
 * the caller. The rest is one last row, so that the parts are the whole.
 */
export function namedRows(
  rows: Rows,
  dimension: Dimension,
  caller: Caller,
  services: NamedResources,
): readonly NamedRow[] {
  const isVisible = visibleNames(dimension, caller, services);
  const isNamed = ([name]: readonly [string, Totals]) => name !== OTHERS && isVisible(name);
  const named = [...rows].filter(isNamed).map(([name, totals]) => toRow(name, totals));
  const other = sumOfTotals([...rows].filter((row) => !isNamed(row)).map(([, totals]) => totals));
  const isThere = other.thereSeconds > 0 || other.created > 0;
  return isThere ? [...named, { id: null, kind: "other", totals: other }] : named;
}

function toRow(name: string, totals: Totals): NamedRow {
  return name === NONE ? { id: null, kind: "none", totals } : { id: name, kind: "named", totals };
}

/** Sorts by this figure, the greatest first, then by name; the rest last. */
export function greatestFirst<R extends Pick<NamedRow, "id" | "kind">>(
  rows: readonly R[],
  figure: (row: R) => number,
): R[] {
  const isOther = ({ kind }: R) => Number(kind === "other");
  return rows.toSorted(
    (one, another) =>
      isOther(one) - isOther(another) ||
      figure(another) - figure(one) ||
      (one.id ?? "").localeCompare(another.id ?? ""),
  );
}

/** Rights to an existing or past environment: for `visibleTo`. Read once: there may be tens of thousands. */
export const rightsTo = oncePer(({ owner, groups }: UsageRecord) => ({
  ...(owner && { owner }),
  access: { groups: [...groups] },
}));

function visibleNames(dimension: Dimension, caller: Caller, { repositories, configSets }: NamedResources) {
  if (dimension === "trigger" || caller.permissions.has("environments:all")) return () => true;
  if (dimension === "creator") return (subject: string) => subject === caller.subject;
  const readable =
    dimension === "repository"
      ? repositories.list().filter((one) => mayRead(caller, one, "repos:reload"))
      : configSets.list().filter((one) => mayRead(caller, one, "configs:write"));
  const names = new Set([NONE, ...readable.map(({ metadata }) => metadata.name)]);
  return (name: string) => names.has(name);
}
