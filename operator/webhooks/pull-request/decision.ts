import { appliedAnnotation } from "../../../crds/environment/applied-state.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isProtected } from "../../../crds/environment/lifetime.ts";
import { COMPONENTS } from "../../../crds/names.ts";
import { hasPlaceholder } from "../../../crds/repository/image-tag.ts";
import { isOneRepository, type Repository, tagTemplateOf } from "../../../crds/repository/repository.ts";
import type { RuleVerdict } from "../../../crds/webhooks/webhook-delivery.ts";
import { type Decided, deletion, nameTaken, nothing, verdict } from "../decision.ts";
import { withReports } from "../pipeline/report.ts";
import type { PullRequestFacts } from "./facts.ts";
import { CREATION_RULES, forks, LASTING_RULES, type Rule } from "./rules.ts";
import { unwantedAnnotation, unwantedStatus, wantedAgain } from "./unwanted.ts";
import { endsEnvironment } from "./wanted.ts";

/** What has the name of the pull request's environment now. */
export interface Namesake {
  readonly environment: EphemeralEnvironment;
  /** Whether it is that of this pull request. */
  readonly isOwn: boolean;
}

/** All rules are met and the name is free: the environment may be created. */
export interface MayCreate {
  readonly mayCreate: true;
  readonly trace: readonly RuleVerdict[];
}

/** The branch and the commits of the pull request; a branch that an environment can't have is left out. */
export type Head = Pick<Partial<EnvironmentSpec["backend"]>, "branch" | "mergeCommit"> & { readonly commit: string };

/**
 * The decision about a pull request by its newest state. Closed beats every rule, rules for creation never gate a deletion,
 * and an environment that exists is not measured by them.
 */
export function pullRequestDecision(
  facts: PullRequestFacts,
  namesake: Namesake | undefined,
  head: Head,
): Decided | MayCreate {
  const own = namesake?.isOwn && !isTerminating(namesake) ? namesake.environment : undefined;
  if (facts.state.state === "closed") return closed(facts, own);
  return own === undefined ? creation(facts, namesake) : existing(facts, own, head);
}

const isTerminating = ({ environment }: Namesake) => environment.metadata.deletionTimestamp !== undefined;

function closed({ state, rules, repository }: PullRequestFacts, own: EphemeralEnvironment | undefined): Decided {
  const end = state.merged ? "Merged" : "Closed";
  const isEnd = endsEnvironment(state, rules);
  const problem = isEnd ? undefined : `'${end.toLowerCase()}' deletes no environment`;
  const trace = [verdict(repository, "delete_on", problem)];
  if (own === undefined) return nothing(end, "the pull request is closed and has no environment", trace);
  return isEnd
    ? deletion(own, end, trace, appliedAnnotation(state))
    : nothing("KeptUntilExpiry", "the environment stays until its TTL is over", trace);
}

function existing(facts: PullRequestFacts, environment: EphemeralEnvironment, head: Head): Decided {
  const lasting = evaluate(facts, LASTING_RULES);
  // A protected environment stays, and goes on with its pull request.
  if (lasting.broken !== undefined && !isProtected(environment)) {
    const annotations = { ...appliedAnnotation(facts.state), ...unwantedAnnotation(facts, lasting.broken.message) };
    return deletion(environment, lasting.broken.reason, lasting.trace, annotations);
  }
  const { type } = facts.repository.spec;
  if (environment.spec[type] === undefined) {
    return nothing("ComponentMissing", `the environment has no ${type}`, lasting.trace);
  }
  const behind = ownSources(environment, facts).filter((own) => isBehind(own, head));
  if (behind.length === 0) return nothing("UpToDate", "the environment has the newest commit", lasting.trace);
  const approval = evaluate(facts, [forks]);
  const trace = [...lasting.trace, ...approval.trace];
  if (approval.broken !== undefined) return nothing(approval.broken.reason, approval.broken.message, trace);
  const spec = Object.fromEntries(
    behind.map(({ repository, source }) => [
      repository.spec.type,
      withReports({ ...source, ...head }, repository, facts),
    ]),
  );
  const annotations = { ...appliedAnnotation(facts.state), ...wantedAgain(environment) };
  return { decision: { do: "update", environment, spec, annotations, reason: "NewCommit" }, trace };
}

interface OwnSource {
  readonly repository: Repository;
  readonly source: EnvironmentSpec["backend"];
}

/** Whether it has another commit, or its image is of the merge commit, which was not known before. */
function isBehind({ repository, source }: OwnSource, head: Head): boolean {
  if (source.commit !== head.commit) return true;
  const isNamed = head.mergeCommit === undefined || source.mergeCommit?.head === head.commit;
  return !isNamed && hasPlaceholder(tagTemplateOf(repository), "mergeCommit");
}

/** The component of the pull request's Repository, and the others that are part of the same repository, as in a monorepo. */
function ownSources({ spec }: EphemeralEnvironment, { repository, context }: PullRequestFacts): OwnSource[] {
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

function creation(facts: PullRequestFacts, namesake: Namesake | undefined): Decided | MayCreate {
  const { broken, trace } = evaluate(facts, CREATION_RULES);
  if (broken !== undefined) {
    return unwantedStatus(facts, trace) ?? nothing(broken.reason, broken.message, trace);
  }
  if (namesake === undefined) return { mayCreate: true, trace };
  return nameTaken(namesake.environment, trace);
}

/** All verdicts, and the first rule that is not met. */
function evaluate(facts: PullRequestFacts, rules: readonly Rule[]) {
  const problems = rules.map(({ name, reason, problem }) => ({ name, reason, message: problem(facts) }));
  const trace = problems.map(({ name, message }) => verdict(facts.repository, name, message));
  const first = problems.find(({ message }) => message !== undefined);
  return { trace, broken: first && { reason: first.reason, message: first.message ?? "" } };
}
