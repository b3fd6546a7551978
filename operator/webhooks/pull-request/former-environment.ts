import type { EnvironmentRecord } from "../../../crds/environment/environment-record.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { PullRequestFacts } from "./facts.ts";
import type { KnownState } from "./newest-state.ts";
import { isWanted, missingLabels } from "./wanted.ts";

/** Times of deletions are cut to whole seconds. */
const SECOND_MS = 1_000;

/**
 * Why a pull request gets no environment after the one that it had. What a user deleted, or what expired, comes back only
 * with a new commit, when the pull request is reopened, or when it is given a required label. What an event of the pull
 * request deleted comes back when the pull request qualifies again. Older events than the deletion change nothing.
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
 * Whether the pull request had no right to an environment when the former one was deleted, so an event deleted it; its
 * delivery may not say so after a crash. Of a pull request whose deliveries of that time are gone, that is assumed.
 */
function wasUnwanted({ states, rules }: PullRequestFacts, { spec }: EnvironmentRecord): boolean {
  const thenMs = Date.parse(spec.deletedAt) + SECOND_MS;
  const then = states.findLast(({ receivedAtMs }) => receivedAtMs < thenMs);
  return then === undefined ? !isEndOfItsOwn(spec) : !isWanted(then.state, rules);
}

/** Whether it expired, or a user deleted it through the REST interface. */
const isEndOfItsOwn = ({ reason, cause }: EnvironmentRecord["spec"]) =>
  reason === "expired" || cause === "deletedByUser" || cause === "cleanup";

function isNewCommit({ state, states }: PullRequestFacts, { spec }: EnvironmentRecord): boolean {
  const deletedMs = Date.parse(spec.deletedAt);
  const isKnown = states.some((one) => one.atMs < deletedMs && one.state.headCommit === state.headCommit);
  const ran = [spec.components?.backend?.commit, spec.components?.frontend?.commit];
  return !isKnown && !ran.includes(state.headCommit);
}

/** Whether a required label was given or, as hosts that report no single label show, was missing. */
function concernsLabel({ state, isUnsure }: KnownState, rules: PullRequestRules): boolean {
  const { requiredLabels = [] } = rules;
  const isGiven = state.action === "labeled" && state.label !== undefined && requiredLabels.includes(state.label);
  return isGiven || (!isUnsure && state.state === "open" && missingLabels(state, rules).length > 0);
}
