import { appliedAnnotation } from "../../../crds/environment/applied-state.ts";
import { commitStatusKey, reportedCommitKey } from "../../../crds/environment/commit-status.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../../crds/environment/lifetime.ts";
import { EXCLUDED_BY_ANNOTATION } from "../../../crds/group.ts";
import { COMPONENTS } from "../../../crds/names.ts";
import { hasPlaceholder } from "../../../crds/repository/image-tag.ts";
import {
  hostedRepository,
  isOneRepository,
  type Repository,
  tagTemplateOf,
} from "../../../crds/repository/repository.ts";
import { CREATE_ACTIONS } from "../../../crds/repository/webhook-rules.schema.ts";
import type { RuleVerdict } from "../../../crds/webhooks/webhook-delivery.ts";
import { contextOf, exclusionReport, wantsOf } from "../../host-reports/desired-reports.ts";
import { type Decided, deletion, nameTaken, nothing, verdict } from "../decision.ts";
import { withReports } from "../pipeline/report.ts";
import { CREATION_RULES, endsEnvironment, FORKS, LASTING_RULES, type Rule, type RuleInput } from "./rules.ts";

/** Existing environment with the name that the pull request's environment has. */
export interface ExistingEnvironment {
  readonly environment: EphemeralEnvironment;
  /** True when it belongs to this pull request. */
  readonly isOwn: boolean;
}

/** All rules are met and the name is free. */
export interface MayCreate {
  readonly mayCreate: true;
  readonly trace: readonly RuleVerdict[];
}

/** Branch and commits of the pull request; a branch that is invalid for an environment is left out. */
export type Head = Pick<Partial<EnvironmentSpec["backend"]>, "branch" | "mergeCommit"> & { readonly commit: string };

/**
 * Decision about a pull request by its newest state. Closed beats every rule, rules for creation never prevent a
 * deletion, and do not apply to an existing environment.
 */
export function pullRequestDecision(
  input: RuleInput,
  existing: ExistingEnvironment | undefined,
  head: Head,
): Decided | MayCreate {
  const isPresent = existing?.environment.metadata.deletionTimestamp === undefined;
  const own = existing?.isOwn && isPresent ? existing.environment : undefined;
  if (input.state.state === "closed") return closed(input, own);
  return own === undefined ? creation(input, existing) : updateOf(input, own, head);
}

function closed({ state, rules, repository }: RuleInput, own: EphemeralEnvironment | undefined): Decided {
  const end = state.merged ? "Merged" : "Closed";
  const isEnd = endsEnvironment(state, rules);
  const problem = isEnd ? undefined : `'${end.toLowerCase()}' deletes no environment`;
  const trace = [verdict(repository, "delete_on", problem)];
  if (own === undefined) return nothing(end, "the pull request is closed and has no environment", trace);
  return isEnd
    ? deletion(own, end, trace, appliedAnnotation(state))
    : nothing("KeptUntilExpiry", "the environment stays until its TTL is over", trace);
}

function updateOf(input: RuleInput, environment: EphemeralEnvironment, head: Head): Decided {
  const lasting = evaluate(input, LASTING_RULES);
  // A protected environment stays, and follows its pull request.
  if (lasting.broken !== undefined && !isProtected(environment)) {
    const annotations = { ...appliedAnnotation(input.state), ...exclusionAnnotation(input, lasting.broken.message) };
    return deletion(environment, lasting.broken.reason, lasting.trace, annotations);
  }
  const { type } = input.repository.spec;
  if (environment.spec[type] === undefined) {
    return nothing("ComponentMissing", `the environment has no ${type}`, lasting.trace);
  }
  const behind = ownSources(environment, input).filter((own) => isBehind(own, head));
  if (behind.length === 0) return nothing("UpToDate", "the environment has the newest commit", lasting.trace);
  const approval = evaluate(input, [FORKS]);
  const trace = [...lasting.trace, ...approval.trace];
  if (approval.broken !== undefined) return nothing(approval.broken.reason, approval.broken.message, trace);
  const spec = Object.fromEntries(
    behind.map(({ repository, source }) => [
      repository.spec.type,
      withReports({ ...source, ...head }, repository, input),
    ]),
  );
  const annotations = { ...appliedAnnotation(input.state), ...withoutExclusion(environment) };
  return { decision: { do: "update", environment, spec, annotations, reason: "NewCommit" }, trace };
}

interface OwnSource {
  readonly repository: Repository;
  readonly source: EnvironmentSpec["backend"];
}

/** True when it has another commit, or its image is of a merge commit that was unknown before. */
function isBehind({ repository, source }: OwnSource, head: Head): boolean {
  if (source.commit !== head.commit) return true;
  const isNamed = head.mergeCommit === undefined || source.mergeCommit?.head === head.commit;
  return !isNamed && hasPlaceholder(tagTemplateOf(repository), "mergeCommit");
}

/** Component of the pull request's Repository, and others in the same repository, as in a monorepo. */
function ownSources({ spec }: EphemeralEnvironment, { repository, context }: RuleInput): OwnSource[] {
  const { type } = repository.spec;
  return COMPONENTS.flatMap((component) => {
    const source = spec[component];
    if (source === undefined) return [];
    if (component === type) return [{ repository, source }];
    const other = context.repositories.find(source.repository);
    const isOwn = other?.spec.type === component && isOneRepository(repository, other);
    return isOwn ? [{ repository: other, source }] : [];
  });
}

function creation(input: RuleInput, existing: ExistingEnvironment | undefined): Decided | MayCreate {
  const { broken, trace } = evaluate(input, CREATION_RULES);
  if (broken !== undefined) return exclusionStatus(input, trace) ?? nothing(broken.reason, broken.message, trace);
  return existing === undefined ? { mayCreate: true, trace } : nameTaken(existing.environment, trace);
}

function evaluate(input: RuleInput, rules: readonly Rule[]) {
  const problems = rules.map(({ name, reason, problem }) => ({ name, reason, message: problem(input) }));
  const trace = problems.map(({ name, message }) => verdict(input.repository, name, message));
  const first = problems.find(({ message }) => message !== undefined);
  return { trace, broken: first && { reason: first.reason, message: first.message ?? "" } };
}

const WISHES: readonly string[] = ["skip_draft", "required_labels", "branch_pattern", "base_pattern"];
/** A violation of these excludes the Repository from all pull requests. */
const TAKES_PART: readonly string[] = ["enabled", "allowed_organizations", "allowed_repositories"];

/**
 * Decision to report a success when a rule of the Repository wants no environment; `undefined` when it requests no such
 * status, without a token of the host, where another environment reports the commit's status, or when something else
 * prevents an environment: an approval, a limit, a user's deletion.
 */
function exclusionStatus(input: RuleInput, trace: readonly RuleVerdict[]): Decided | undefined {
  const { repository, state, context } = input;
  const rule = wantsOf(repository).successWithoutEnvironment ? excludingRule(input, trace) : undefined;
  const hosted = hostedRepository(repository, context.settings);
  const { name } = repository.metadata;
  const key = commitStatusKey(name, state.headCommit);
  const isReported = context.environments.ofRepository(name).some((one) => reportedCommitKey(one) === key);
  if (rule === undefined || hosted === undefined || isReported) return undefined;
  const report = { ...exclusionReport(rule), commit: state.headCommit, context: contextOf(name) };
  return { decision: { do: "report", repository: hosted, report, reason: "Excluded" }, trace };
}

/** Message of the rule that wants no environment, if any. */
function excludingRule({ rules, state, action }: RuleInput, trace: readonly RuleVerdict[]): string | undefined {
  const broken = trace.filter(({ passed }) => !passed);
  if (broken.some(({ rule }) => TAKES_PART.includes(rule))) return undefined;
  const isDeniedFork = state.isFork && rules.forks !== "approve";
  const unwished = broken.find(({ rule }) => WISHES.includes(rule) || (rule === "forks" && isDeniedFork));
  if (unwished !== undefined) return unwished.message;
  // An unrelated action, such as a new title, changes no wish.
  const isChoice = broken.length === 1 && CREATE_ACTIONS.some((one) => one === action);
  return broken.find(({ rule }) => isChoice && rule === "create_on")?.message;
}

/** Annotations for a deletion whose end is reported as a success; see `reportDeleted`. */
function exclusionAnnotation({ repository }: RuleInput, rule: string): Record<string, string> {
  return wantsOf(repository).successWithoutEnvironment ? { [EXCLUDED_BY_ANNOTATION]: rule } : {};
}

/** Removes the annotation after a deletion that did not happen. */
function withoutExclusion({ metadata }: EphemeralEnvironment): Record<string, null> {
  return metadata.annotations?.[EXCLUDED_BY_ANNOTATION] === undefined ? {} : { [EXCLUDED_BY_ANNOTATION]: null };
}
