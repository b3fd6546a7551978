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

type Test = (environment: EphemeralEnvironment) => boolean;

/**
 * The newest first; those of the same second by name, so that pages never overlap. `environments` are those that the
 * caller sees: what is not among them shows in no number.
 */
export function pageOf(environments: readonly EphemeralEnvironment[], query: ListQuery): EnvironmentPage {
  const { limit = DEFAULT_LIMIT, offset = 0 } = query;
  const matching = testsOf(query).reduce((left, test) => left.filter(test), environments);
  const page = newest(matching, offset + limit).slice(offset);
  return { environments: page, total: matching.length, limit, offset };
}

/**
 * So many of them, the newest first. To sort ten thousand for a page of fifty would take longer than all the rest: a few
 * are sorted at a time, and what is older than so many of them is left out.
 */
function newest(environments: readonly EphemeralEnvironment[], count: number): EphemeralEnvironment[] {
  const found: EphemeralEnvironment[] = [];
  let last: EphemeralEnvironment | undefined;
  for (const environment of environments) {
    if (last !== undefined && newestFirst(environment, last) > 0) continue;
    found.push(environment);
    if (found.length < count * SORTED_AT_ONCE) continue;
    found.sort(newestFirst).splice(count);
    last = found.at(-1);
  }
  return found.sort(newestFirst).slice(0, count);
}

/** In pages. */
const SORTED_AT_ONCE = 4;

/** All of Kubernetes's timestamps have one form, so that they compare as texts: to parse ten thousand takes too long. */
function testsOf({ status, search, created_after, created_before }: ListQuery): Test[] {
  const tests: Test[] = [];
  if (status !== undefined) tests.push((environment) => statusOf(environment) === status);
  // Names are lower case. The text is taken literally: a pattern from outside could take for ever to match.
  const part = search?.toLowerCase() ?? "";
  if (part !== "") tests.push(({ metadata }) => metadata.name.includes(part));
  if (created_after !== undefined) {
    const from = secondFrom(created_after);
    tests.push(({ metadata }) => metadata.creationTimestamp >= from);
  }
  if (created_before !== undefined) {
    const until = secondFrom(created_before);
    tests.push(({ metadata }) => metadata.creationTimestamp < until);
  }
  return tests;
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
