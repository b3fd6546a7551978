import { type AppliedState, appliedState } from "../../../crds/environment/applied-state.ts";
import type { EnvironmentRecord } from "../../../crds/environment/environment-record.ts";
import { pullRequestKey, triggerKey } from "../../../crds/environment/environment-record.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { branchProblem } from "../../../crds/repository/branches.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState, WebhookEvent } from "../../../crds/webhooks/webhook-event.schema.ts";
import { type Decided, type DecisionContext, nothing, type Subject } from "../decision.ts";
import { formatOf } from "../formats.ts";
import { type ExistingEnvironment, type Head, pullRequestDecision } from "./decision.ts";
import { creationOf } from "./environment-spec.ts";
import type { FormerEnvironment, PullRequestFacts } from "./facts.ts";
import { isOutdated, knownStates } from "./newest-state.ts";

/**
 * Decision about a pull request by its newest known state, whatever the current event, so that every order of events
 * ends alike. Without a known state nothing is done.
 *
 * @throws HostUnavailable when a creation needs the companion's unreachable host, SecretsUnavailable
 */
export async function decidePullRequest(subject: Subject, number: number, context: DecisionContext): Promise<Decided> {
  const { repository, host } = subject;
  const name = pullRequestEnvironmentName(repository.metadata.name, number);
  const key = pullRequestKey(host, repository.metadata.name, number);
  const facts = factsOf(subject, key, context);
  if (facts === undefined) return nothing("PullRequestUnknown", "no event of this pull request has arrived yet");
  const existing = existingOf(name, key, context);
  if (isOutdated(facts.states, appliedStates(existing, context.recordsOf(key)))) {
    return nothing("Outdated", "a newer state of the pull request was acted on before");
  }
  const head = { ...headOf(facts.state, subject, context), ...mergeCommitOf(facts) };
  const decided = pullRequestDecision(facts, existing, head);
  return "mayCreate" in decided ? creationOf({ ...decided, name, facts, head, subject }, context) : decided;
}

/** States stored in the environment and in records, for dropped deliveries. */
function appliedStates(
  existing: ExistingEnvironment | undefined,
  records: readonly EnvironmentRecord[],
): readonly AppliedState[] {
  const present = existing?.isOwn ? [appliedState(existing.environment)] : [];
  return [...present, ...records.map(({ spec }) => spec.appliedState)].filter((state) => state !== undefined);
}

function factsOf(subject: Subject, key: string, context: DecisionContext): PullRequestFacts | undefined {
  const { event, repository } = subject;
  const deliveries = context.deliveries.ofPullRequest(key);
  const states = knownStates(deliveries, subject, context);
  const state = states.at(-1)?.state;
  if (state === undefined) return undefined;
  return {
    repository,
    rules: repository.spec.pullRequest ?? {},
    action: event.pullRequest?.action ?? "approval",
    state,
    states,
    deliveries,
    approved: approvedCommits(deliveries, event),
    former: formerEnvironment(context.recordsOf(key), deliveries),
    context,
  };
}

function approvedCommits(deliveries: readonly WebhookDelivery[], current: WebhookEvent): ReadonlySet<string> {
  const stored = deliveries.filter(({ spec }) => spec.source === "approval").map(({ spec }) => spec.event);
  return new Set([...stored, current].flatMap(({ approval }) => approval?.commit ?? []));
}

function formerEnvironment(
  records: readonly EnvironmentRecord[],
  deliveries: readonly WebhookDelivery[],
): FormerEnvironment | undefined {
  const record = records.toSorted((one, other) => deletedMs(one) - deletedMs(other)).at(-1);
  if (record === undefined) return undefined;
  // A deletion by a canceled pipeline is no event of the pull request.
  const events = deliveries.filter(({ spec }) => spec.event.pipeline === undefined);
  const written = events.flatMap(({ status }) => status?.environments ?? []);
  const isDeletedByEvent = written.some(({ uid, action }) => uid === record.spec.uid && action === "deleted");
  return { record, isDeletedByEvent };
}

const deletedMs = ({ spec }: EnvironmentRecord) => Date.parse(spec.deletedAt);

function existingOf(name: string, key: string, { environments }: DecisionContext): ExistingEnvironment | undefined {
  const environment = environments.find(name);
  return environment && { environment, isOwn: triggerKey(environment.spec.trigger) === key };
}

/**
 * Head of a pull request; with a commit no ref is read. A fork's branch is the ref under which our repository has it,
 * because its own name means another branch here.
 */
function headOf(state: PullRequestState, subject: Subject, context: DecisionContext): Head {
  const branch = state.isFork ? formatOf(subject, context).pullRequestRef(state.number) : state.headRef;
  return branchProblem(branch) === undefined ? { branch, commit: state.headCommit } : { commit: state.headCommit };
}

/**
 * Test merge commit of the head. The pipelines build the first reported one: the host makes another when the base
 * moves. A push event may still have that of the former head, which is left out.
 */
function mergeCommitOf({ state: { headCommit }, states }: PullRequestFacts): Pick<Head, "mergeCommit"> {
  const isOfHead = ({ state }: (typeof states)[number]) => state.headCommit === headCommit;
  const ofOthers = new Set(states.filter((one) => !isOfHead(one)).map(({ state }) => state.mergeCommit));
  const ofHead = states.filter(isOfHead).map(({ state }) => state.mergeCommit);
  const commit = ofHead.find((one) => one !== undefined && !ofOthers.has(one));
  return commit === undefined ? {} : { mergeCommit: { head: headCommit, commit } };
}
