import type { ChangedEnvironment, ListedEnvironmentReport } from "../../sdk/index.ts";

/** Filters of the list. */
export interface ListQuery {
  readonly search: string;
  readonly status: string;
  readonly isMine: boolean;
  readonly offset: number;
}

/** A known page. */
export interface ListPage {
  readonly environments: readonly ListedEnvironmentReport[];
  readonly total: number;
}

export const PAGE_SIZE = 50;

/** Filters in an address; invalid ones are ignored. */
export function queryFrom(query: Readonly<Record<string, string>>): ListQuery {
  const offset = Number(query.offset);
  return {
    search: query.search ?? "",
    status: query.status ?? "",
    isMine: query.mine === "1",
    offset: Number.isSafeInteger(offset) && offset > 0 ? offset : 0,
  };
}

/** Address of a list. */
export function addressOf({ search, status, isMine, offset }: ListQuery): string {
  const parameters = new URLSearchParams({
    ...(search && { search }),
    ...(status && { status }),
    ...(isMine && { mine: "1" }),
    ...(offset > 0 && { offset: String(offset) }),
  });
  return parameters.size === 0 ? "/console/" : `/console/?${parameters}`;
}

/** A page after a change; stale when a created or deleted environment moves the other rows. */
export interface AfterChange {
  readonly page: ListPage;
  readonly isStale: boolean;
}

/** Applies a change to a page. */
export function afterChange(page: ListPage, { id, environment }: ChangedEnvironment, query: ListQuery): AfterChange {
  const isShown = page.environments.some((one) => one.id === id);
  if (!isShown) return { page, isStale: environment === undefined || isSelected(environment, query) };
  const isGone = environment === undefined || !isSelected(environment, query);
  const environments = isGone
    ? page.environments.filter((one) => one.id !== id)
    : page.environments.map((one) => (one.id === id ? environment : one));
  return { page: { environments, total: isGone ? page.total - 1 : page.total }, isStale: isGone };
}

function isSelected({ name, status }: ListedEnvironmentReport, { search, status: requested }: ListQuery): boolean {
  return name.toLowerCase().includes(search.toLowerCase()) && (requested === "" || status === requested);
}
