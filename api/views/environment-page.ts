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
  const tests = testsOf(query);
  const matching = environments.filter((environment) => tests.every((test) => test(environment)));
  const page = newest(matching, offset + limit).slice(offset);
  return { environments: page, total: matching.length, limit, offset };
}

/** So many of them, the newest first. To sort ten thousand for a page of fifty would take longer than all the rest. */
function newest(environments: EphemeralEnvironment[], count: number): EphemeralEnvironment[] {
  if (count * 4 > environments.length) return environments.sort(newestFirst).slice(0, count);
  const found: EphemeralEnvironment[] = [];
  for (const environment of environments) {
    const last = found[count - 1];
    if (last !== undefined && newestFirst(environment, last) > 0) continue;
    found.splice(placeOf(environment, found), 0, environment);
    if (found.length > count) found.pop();
  }
  return found;
}

/** Where it belongs among those that are in order. */
function placeOf(environment: EphemeralEnvironment, sorted: readonly EphemeralEnvironment[]): number {
  let from = 0;
  let until = sorted.length;
  while (from < until) {
    const middle = (from + until) >> 1;
    if (newestFirst(environment, sorted[middle] as EphemeralEnvironment) < 0) until = middle;
    else from = middle + 1;
  }
  return from;
}

function testsOf({ status, search, created_after, created_before }: ListQuery): Test[] {
  const tests: Test[] = [];
  if (status !== undefined) tests.push((environment) => statusOf(environment) === status);
  // Names are lower case. The text is taken literally: a pattern from outside could take for ever to match.
  const part = search?.toLowerCase() ?? "";
  if (part !== "") tests.push(({ metadata }) => metadata.name.includes(part));
  if (created_after !== undefined) {
    const from = instantMs(created_after);
    tests.push(({ metadata }) => Date.parse(metadata.creationTimestamp) >= from);
  }
  if (created_before !== undefined) {
    const until = instantMs(created_before);
    tests.push(({ metadata }) => Date.parse(metadata.creationTimestamp) < until);
  }
  return tests;
}

/** Kubernetes writes every timestamp in one form, so that texts compare as moments do, and ten thousand of them quickly. */
function newestFirst({ metadata: one }: EphemeralEnvironment, { metadata: other }: EphemeralEnvironment): number {
  if (one.creationTimestamp !== other.creationTimestamp)
    return one.creationTimestamp < other.creationTimestamp ? 1 : -1;
  return one.name < other.name ? -1 : 1;
}
