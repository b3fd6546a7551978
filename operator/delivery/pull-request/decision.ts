import { appliedAnnotation } from "../../../crds/environment/applied-state.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { hasPlaceholder } from "../../../crds/repository/image-tag.ts";
import { tagTemplateOf } from "../../../crds/repository/repository.ts";
import type { RuleVerdict } from "../../../crds/webhooks/webhook-delivery.ts";
import { type Decided, deletion, nameTaken, nothing, verdict } from "../decision.ts";
import { withReports } from "../pipeline/report.ts";
import type { PullRequestFacts } from "./facts.ts";
import { CREATION_RULES, forks, LASTING_RULES, type Rule } from "./rules.ts";
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
  if (lasting.broken !== undefined && !environment.spec.protected) {
    return deletion(environment, lasting.broken.reason, lasting.trace, appliedAnnotation(facts.state));
  }
  const component = facts.repository.spec.type;
  const source = environment.spec[component];
  if (source === undefined) return nothing("ComponentMissing", `the environment has no ${component}`, lasting.trace);
  const isNamed = head.mergeCommit === undefined || source.mergeCommit?.head === head.commit;
  const needsMerge = !isNamed && hasPlaceholder(tagTemplateOf(facts.repository), "mergeCommit");
  if (source.commit === head.commit && !needsMerge)
    return nothing("UpToDate", "the environment has the newest commit", lasting.trace);
  const approval = evaluate(facts, [forks]);
  const trace = [...lasting.trace, ...approval.trace];
  if (approval.broken !== undefined) return nothing(approval.broken.reason, approval.broken.message, trace);
  const moved = withReports({ ...source, ...head }, facts.repository, facts.context);
  const annotations = appliedAnnotation(facts.state);
  return {
    decision: { do: "update", environment, spec: { [component]: moved }, annotations, reason: "NewCommit" },
    trace,
  };
}

function creation(facts: PullRequestFacts, namesake: Namesake | undefined): Decided | MayCreate {
  const { broken, trace } = evaluate(facts, CREATION_RULES);
  if (broken !== undefined) return nothing(broken.reason, broken.message, trace);
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
