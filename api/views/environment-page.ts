import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import type { ListQuery } from "../schemas/environments.ts";
import { instantMs } from "../schemas/instant.ts";
import { DEFAULT_LIMIT } from "../schemas/page.ts";
import { statusOf } from "./environments.ts";

/** One page of what matches, and how many match on all pages. */
export interface EnvironmentPage {
  readonly environments: readonly EphemeralEnvironment[];
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

/** Whether an environment is meant, or may be shown. */
type Test = (environment: EphemeralEnvironment) => boolean;

/** How much is sorted at a time, in pages. */
const SORTED_AT_ONCE = 4;

/**
 * The newest first; those of the same second by name, so that pages never overlap. What the caller may not see shows in no
 * number.
 *
 * Every environment is looked at once, in little time, because a list of ten thousand lets all other requests wait. To sort
 * them all for a page of fifty would take longer than the rest: a few are sorted at a time, and what then comes that is
 * older than all of the page is only counted.
 */
export function pageOf(
  environments: readonly EphemeralEnvironment[],
  isVisible: Test,
  query: ListQuery,
): EnvironmentPage {
  const { limit = DEFAULT_LIMIT, offset = 0 } = query;
  const end = offset + limit;
  const isMeant = testOf(query);
  const found: EphemeralEnvironment[] = [];
  let last: EphemeralEnvironment | undefined;
  let total = 0;
  for (const environment of environments) {
    if (!isVisible(environment) || !isMeant(environment)) continue;
    total += 1;
    if (last !== undefined && newestFirst(environment, last) > 0) continue;
    found.push(environment);
    if (found.length < end * SORTED_AT_ONCE) continue;
    found.sort(newestFirst).splice(end);
    last = found.at(-1);
  }
  return { environments: found.sort(newestFirst).slice(offset, end), total, limit, offset };
}

/** All of Kubernetes's timestamps have one form, so that they compare as texts: to parse ten thousand takes too long. */
function testOf({ status, search = "", created_after, created_before }: ListQuery): Test {
  // Names are lower case. The text is taken literally: a pattern from outside could take for ever to match.
  const part = search.toLowerCase();
  const from = created_after === undefined ? undefined : secondFrom(created_after);
  const until = created_before === undefined ? undefined : secondFrom(created_before);
  return (environment) => {
    const { name, creationTimestamp } = environment.metadata;
    if (status !== undefined && statusOf(environment) !== status) return false;
    if (!name.includes(part)) return false;
    return (from === undefined || creationTimestamp >= from) && (until === undefined || creationTimestamp < until);
  };
}

/** With an offset a moment can lie in the year 10000, whose text comes before all others. */
const LAST_SECOND_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

/** The first whole second from that moment on, as Kubernetes writes it. */
function secondFrom(instant: string): string {
  const ms = Math.ceil(instantMs(instant) / 1000) * 1000;
  return `${new Date(Math.min(ms, LAST_SECOND_MS)).toISOString().slice(0, -".000Z".length)}Z`;
}

function newestFirst({ metadata: one }: EphemeralEnvironment, { metadata: other }: EphemeralEnvironment): number {
  if (one.creationTimestamp !== other.creationTimestamp)
    return one.creationTimestamp < other.creationTimestamp ? 1 : -1;
  return one.name < other.name ? -1 : 1;
}
