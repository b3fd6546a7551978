import type { EnvironmentRecord } from "../../../crds/environment/environment-record.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { PullRequestFacts } from "./facts.ts";
import type { KnownState } from "./newest-state.ts";
import { isWanted, missingLabels } from "./wanted.ts";

/** Times of deletions are cut to whole seconds. */
const SECOND_MS = 1_000;

/**
 * Reason why a pull request gets no further environment. After an expiry or a user's deletion it needs a new commit, a
 * reopening or a required label; after a deletion by its own event it must qualify again. Events older than the
 * deletion do not count.
 */
export function returnProblem(facts: PullRequestFacts): string | undefined {
  const { former, states } = facts;
  if (former === undefined) return undefined;
  const { record, isDeletedByEvent } = former;
  if (isDeletedByEvent || wasUnwanted(facts, record)) return undefined;
  const deletedMs = Date.parse(record.spec.deletedAt);
  const since = states.filter(({ atMs }) => atMs >= deletedMs);
  const isReopened = since.some(({ state }) => state.action === "reopened");
  if (isReopened || isNewCommit(facts, record) || since.some((one) => concernsLabel(one, facts.rules))) {
    return undefined;
  }
  const cause = record.spec.reason === "expired" ? "expired" : "was deleted";
  const remedy = "push a commit, reopen it, or give it a required label";
  return `the pull request's environment ${cause} at ${record.spec.deletedAt}: ${remedy}`;
}

/**
 * True when the pull request deserved no environment at the deletion, so an event caused it; after a crash its delivery
 * may not say so. Also assumed without deliveries of that time.
 */
function wasUnwanted({ states, rules }: PullRequestFacts, { spec }: EnvironmentRecord): boolean {
  const thenMs = Date.parse(spec.deletedAt) + SECOND_MS;
  const then = states.findLast(({ receivedAtMs }) => receivedAtMs < thenMs);
  return then === undefined ? !isEndOfItsOwn(spec) : !isWanted(then.state, rules);
}

/** True when it expired, or a user deleted it through the REST interface. */
const isEndOfItsOwn = ({ reason, cause }: EnvironmentRecord["spec"]) =>
  reason === "expired" || cause === "deletedByUser" || cause === "cleanup";

function isNewCommit({ state, states }: PullRequestFacts, { spec }: EnvironmentRecord): boolean {
  const deletedMs = Date.parse(spec.deletedAt);
  const isKnown = states.some((one) => one.atMs < deletedMs && one.state.headCommit === state.headCommit);
  const ran = [spec.components?.backend?.commit, spec.components?.frontend?.commit];
  return !isKnown && !ran.includes(state.headCommit);
}

/** True when a required label was added or, for hosts that report no single label, was missing. */
function concernsLabel({ state, isUnsure }: KnownState, rules: PullRequestRules): boolean {
  const { requiredLabels = [] } = rules;
  const isGiven = state.action === "labeled" && state.label !== undefined && requiredLabels.includes(state.label);
  return isGiven || (!isUnsure && state.state === "open" && missingLabels(state, rules).length > 0);
}
