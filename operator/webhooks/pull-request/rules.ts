import { RE2JS } from "re2js";
import { SECOND_MS } from "../../../crds/durations.ts";
import type { EnvironmentRecord } from "../../../crds/environment/environment-record.ts";
import { shortCommit } from "../../../crds/names.ts";
import { branchProblem } from "../../../crds/repository/branches.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import {
  CREATE_ACTIONS,
  DELETE_ACTIONS,
  type PullRequestRules,
} from "../../../crds/repository/webhook-rules.schema.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestAction, PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import { allowedOrganizationsProblem, allowedRepositoriesProblem, fullProblem } from "../creation.ts";
import type { DecisionContext } from "../decision.ts";
import type { KnownState } from "./states.ts";

/** One rule of the specification for pull requests. */
export interface Rule {
  /** Name in the specification. */
  readonly name: string;
  /** Stable reason of the outcome when the rule is violated. */
  readonly reason: string;
  /** Violation, for people; `undefined` when the rule is met. */
  readonly problem: (input: RuleInput) => string | undefined;
}

/** Input of the rules about a pull request. */
export interface RuleInput {
  readonly repository: Repository;
  readonly rules: PullRequestRules;
  /** Action of the current event: it decides only about a creation. */
  readonly action: PullRequestAction | "approval";
  /** Newest known state, which decides everything else. */
  readonly state: PullRequestState;
  readonly states: readonly KnownState[];
  /** All stored deliveries about the pull request, with its pipelines' reports. */
  readonly deliveries: readonly WebhookDelivery[];
  /** Commits that a maintainer approved, for pull requests of forks. */
  readonly approved: ReadonlySet<string>;
  readonly former: FormerEnvironment | undefined;
  readonly context: DecisionContext;
}

/** An earlier environment of the pull request. */
export interface FormerEnvironment {
  readonly record: EnvironmentRecord;
  /** True when an event of the pull request deleted it, by its delivery. */
  readonly isDeletedByEvent: boolean;
}

/** Rules for an environment's whole life: a violation deletes it. */
export const LASTING_RULES: readonly Rule[] = [
  { name: "skip_draft", reason: "Draft", problem: draftProblem },
  { name: "required_labels", reason: "LabelMissing", problem: labelProblem },
];

/** An approval is for one commit: no maintainer has seen later ones. */
export const FORKS: Rule = { name: "forks", reason: "ForkNotApproved", problem: forkProblem };

/** Rules for creation; later violations delete nothing. */
export const CREATION_RULES: readonly Rule[] = [
  { name: "enabled", reason: "Disabled", problem: enabledProblem },
  {
    name: "allowed_organizations",
    reason: "OrganizationNotAllowed",
    problem: ({ repository, context }) => allowedOrganizationsProblem(repository, context.settings),
  },
  {
    name: "allowed_repositories",
    reason: "RepositoryNotAllowed",
    problem: ({ repository, context }) => allowedRepositoriesProblem(repository, context.settings),
  },
  { name: "create_on", reason: "ActionCreatesNone", problem: actionProblem },
  ...LASTING_RULES,
  { name: "head_branch", reason: "BranchInvalid", problem: headBranchProblem },
  {
    name: "branch_pattern",
    reason: "BranchNotMatched",
    problem: ({ rules, state }) => patternProblem(rules.branchPattern, state.headRef),
  },
  {
    name: "base_pattern",
    reason: "BaseNotMatched",
    problem: ({ rules, state }) => patternProblem(rules.basePattern, state.baseRef),
  },
  FORKS,
  { name: "former_environment", reason: "DeletedBefore", problem: returnProblem },
  {
    name: "max_environments",
    reason: "RepositoryFull",
    problem: ({ repository, context }) => fullProblem(repository, context),
  },
];

function enabledProblem({ rules, repository: { metadata } }: RuleInput): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return `Repository '${metadata.name}' is being deleted`;
  return rules.enabled ? undefined : `pull requests of Repository '${metadata.name}' get no environments`;
}

/** Equivalents of an action. A new base is like a new pull request; `updated` may be any change of an open one. */
const COUNTS_AS: Readonly<Record<string, readonly string[]>> = {
  edited: ["opened"],
  updated: ["synchronize", "labeled", "ready_for_review"],
};

function actionProblem({ rules, action }: RuleInput): string | undefined {
  // The approval was the only missing condition.
  if (action === "approval") return undefined;
  const creating: readonly string[] = rules.createOn ?? CREATE_ACTIONS;
  const isCreating = (COUNTS_AS[action] ?? [action]).some((one) => creating.includes(one));
  return isCreating ? undefined : `'${action}' creates no environment`;
}

function draftProblem({ rules, state }: RuleInput): string | undefined {
  return isSkippedDraft(state, rules) ? "the pull request is a draft" : undefined;
}

function labelProblem({ rules, state }: RuleInput): string | undefined {
  const missing = missingLabels(state, rules);
  return missing.length === 0 ? undefined : `the pull request lacks ${missing.map((one) => `'${one}'`).join(", ")}`;
}

function headBranchProblem({ state }: RuleInput): string | undefined {
  const problem = state.isFork ? undefined : branchProblem(state.headRef);
  return problem && `a branch ${problem}`;
}

function patternProblem(pattern: string | undefined, branch: string): string | undefined {
  const matches = pattern === undefined || matchesWhole(pattern, branch);
  if (matches === undefined) return `'${pattern}' is not an RE2 expression: correct the Repository`;
  return matches ? undefined : `'${branch}' does not match '${pattern}' as a whole`;
}

function forkProblem({ rules, state, approved }: RuleInput): string | undefined {
  if (!state.isFork) return undefined;
  if (rules.forks !== "approve") return "pull requests of forks get no environments";
  const commit = shortCommit(state.headCommit);
  return approved.has(state.headCommit) ? undefined : `no maintainer has approved the fork's commit ${commit}`;
}

/** More than a platform's Repositories have. */
const MOST_COMPILED = 500;

const compiled = new Map<string, RE2JS | undefined>();

/**
 * True when an RE2 expression matches the whole text, in linear time; `undefined` when it is none. The API server
 * refuses such an expression, but its library may accept more than ours. Keeps the most recently used ones.
 */
function matchesWhole(pattern: string, text: string): boolean | undefined {
  const expression = compiled.has(pattern) ? compiled.get(pattern) : parse(pattern);
  compiled.delete(pattern);
  compiled.set(pattern, expression);
  for (const oldest of compiled.size > MOST_COMPILED ? compiled.keys().take(1) : []) compiled.delete(oldest);
  return expression?.testExact(text);
}

function parse(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}

/**
 * Reason why a pull request gets no further environment. After an expiry or a user's deletion it needs a new commit, a
 * reopening or a required label; after a deletion by its own event it must qualify again. Events older than the
 * deletion do not count.
 */
function returnProblem(input: RuleInput): string | undefined {
  const { former, states } = input;
  if (former === undefined) return undefined;
  const { record, isDeletedByEvent } = former;
  if (isDeletedByEvent || wasExcluded(input, record)) return undefined;
  const deletedMs = Date.parse(record.spec.deletedAt);
  const since = states.filter(({ atMs }) => atMs >= deletedMs);
  const isReopened = since.some(({ state }) => state.action === "reopened");
  if (isReopened || isNewCommit(input, record) || since.some((one) => concernsLabel(one, input.rules))) {
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
function wasExcluded({ states, rules }: RuleInput, { spec }: EnvironmentRecord): boolean {
  // Times of deletions are cut to whole seconds.
  const thenMs = Date.parse(spec.deletedAt) + SECOND_MS;
  const then = states.findLast(({ receivedAtMs }) => receivedAtMs < thenMs);
  return then === undefined ? !isEndOfItsOwn(spec) : !isIncluded(then.state, rules);
}

/** True when it expired, or a user deleted it through the REST interface. */
const isEndOfItsOwn = ({ reason, cause }: EnvironmentRecord["spec"]) =>
  reason === "expired" || cause === "deletedByUser" || cause === "cleanup";

function isNewCommit({ state, states }: RuleInput, { spec }: EnvironmentRecord): boolean {
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

/** True when the environment of a pull request in this state stays. */
export function isIncluded(
  state: Pick<PullRequestState, "state" | "merged" | "draft" | "labels">,
  rules: PullRequestRules,
): boolean {
  if (state.state === "closed") return !endsEnvironment(state, rules);
  return !isSkippedDraft(state, rules) && missingLabels(state, rules).length === 0;
}

/** True when this end of a pull request deletes its environment (`delete_on`). */
export function endsEnvironment({ merged }: Pick<PullRequestState, "merged">, { deleteOn }: PullRequestRules): boolean {
  const ends: readonly string[] = deleteOn ?? DELETE_ACTIONS;
  return ends.includes(merged ? "merged" : "closed");
}

export function isSkippedDraft({ draft }: Pick<PullRequestState, "draft">, { skipDraft }: PullRequestRules): boolean {
  return draft && skipDraft === true;
}

export function missingLabels(
  { labels }: Pick<PullRequestState, "labels">,
  { requiredLabels }: PullRequestRules,
): readonly string[] {
  return (requiredLabels ?? []).filter((label) => !labels.includes(label));
}
