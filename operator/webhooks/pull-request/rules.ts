import { shortCommit } from "../../../crds/names.ts";
import { branchProblem } from "../../../crds/repository/branches.ts";
import { CREATE_ACTIONS } from "../../../crds/repository/webhook-rules.schema.ts";
import { organizationProblem, repositoryProblem } from "../allowed.ts";
import { fullProblem } from "../components.ts";
import { matchesWhole } from "../patterns.ts";
import type { PullRequestFacts } from "./facts.ts";
import { returnProblem } from "./former-environment.ts";
import { isSkippedDraft, missingLabels } from "./wanted.ts";

/** One rule of the specification for pull requests. */
export interface Rule {
  /** As the specification calls it. */
  readonly name: string;
  /** A stable word for the outcome when the rule is not met. */
  readonly reason: string;
  /** Why the rule is not met, for people; `undefined` when it is met. */
  readonly problem: (facts: PullRequestFacts) => string | undefined;
}

const enabled: Rule = {
  name: "enabled",
  reason: "Disabled",
  problem({ rules, repository: { metadata } }) {
    if (metadata.deletionTimestamp !== undefined) return `Repository '${metadata.name}' is being deleted`;
    return rules.enabled ? undefined : `pull requests of Repository '${metadata.name}' get no environments`;
  },
};

const allowedOrganizations: Rule = {
  name: "allowed_organizations",
  reason: "OrganizationNotAllowed",
  problem: ({ repository, context }) => organizationProblem(repository, context.settings),
};

const allowedRepositories: Rule = {
  name: "allowed_repositories",
  reason: "RepositoryNotAllowed",
  problem: ({ repository, context }) => repositoryProblem(repository, context.settings),
};

/** What an action counts as. A new base is like a new pull request; `updated` may be any change of an open one. */
const COUNTS_AS: Readonly<Record<string, readonly string[]>> = {
  edited: ["opened"],
  updated: ["synchronize", "labeled", "ready_for_review"],
};

const createOn: Rule = {
  name: "create_on",
  reason: "ActionCreatesNone",
  problem({ rules, action }) {
    // An approval was the one thing that was missing.
    if (action === "approval") return undefined;
    const creating: readonly string[] = rules.createOn ?? CREATE_ACTIONS;
    const isCreating = (COUNTS_AS[action] ?? [action]).some((one) => creating.includes(one));
    return isCreating ? undefined : `'${action}' creates no environment`;
  },
};

const skipDraft: Rule = {
  name: "skip_draft",
  reason: "Draft",
  problem: ({ rules, state }) => (isSkippedDraft(state, rules) ? "the pull request is a draft" : undefined),
};

const requiredLabels: Rule = {
  name: "required_labels",
  reason: "LabelMissing",
  problem({ rules, state }) {
    const missing = missingLabels(state, rules);
    return missing.length === 0 ? undefined : `the pull request lacks ${missing.map((one) => `'${one}'`).join(", ")}`;
  },
};

const branchPattern: Rule = {
  name: "branch_pattern",
  reason: "BranchNotMatched",
  problem: ({ rules, state }) => patternProblem(rules.branchPattern, state.headRef),
};

const headBranch: Rule = {
  name: "head_branch",
  reason: "BranchInvalid",
  problem({ state }) {
    const problem = state.isFork ? undefined : branchProblem(state.headRef);
    return problem === undefined ? undefined : `a branch ${problem}`;
  },
};

const basePattern: Rule = {
  name: "base_pattern",
  reason: "BaseNotMatched",
  problem: ({ rules, state }) => patternProblem(rules.basePattern, state.baseRef),
};

function patternProblem(pattern: string | undefined, branch: string): string | undefined {
  const matches = pattern === undefined || matchesWhole(pattern, branch);
  if (matches === undefined) return `'${pattern}' is not an RE2 expression: correct the Repository`;
  return matches ? undefined : `'${branch}' does not match '${pattern}' as a whole`;
}

/** An approval is for one commit: what is pushed after it was seen by no maintainer. */
export const forks: Rule = {
  name: "forks",
  reason: "ForkNotApproved",
  problem({ rules, state, approved }) {
    if (!state.isFork) return undefined;
    if (rules.forks !== "approve") return "pull requests of forks get no environments";
    const commit = shortCommit(state.headCommit);
    return approved.has(state.headCommit) ? undefined : `no maintainer has approved the fork's commit ${commit}`;
  },
};

const formerEnvironment: Rule = {
  name: "former_environment",
  reason: "DeletedBefore",
  problem: returnProblem,
};

const maxEnvironments: Rule = {
  name: "max_environments",
  reason: "RepositoryFull",
  problem: ({ repository, context }) => fullProblem(repository, context),
};

/** Met as long as an environment exists: one whose pull request breaks them is deleted. */
export const LASTING_RULES: readonly Rule[] = [skipDraft, requiredLabels];

/** Met when an environment is created; a change of them, or of what they count, deletes none. */
export const CREATION_RULES: readonly Rule[] = [
  enabled,
  allowedOrganizations,
  allowedRepositories,
  createOn,
  skipDraft,
  requiredLabels,
  headBranch,
  branchPattern,
  basePattern,
  forks,
  formerEnvironment,
  maxEnvironments,
];
