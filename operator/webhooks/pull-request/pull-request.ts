import { type AppliedState, appliedState } from "../../../crds/environment/applied-state.ts";
import type { EnvironmentRecord } from "../../../crds/environment/environment-record.ts";
import { pullRequestKey, triggerKey } from "../../../crds/environment/environment-record.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { branchProblem } from "../../../crds/repository/branches.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState, WebhookEvent } from "../../../crds/webhooks/webhook-event.schema.ts";
import { type Decided, type DecisionContext, nothing, type Subject } from "../decision.ts";
import { type Head, type Namesake, pullRequestDecision } from "./decision.ts";
import { creationOf } from "./environment-spec.ts";
import type { FormerEnvironment, PullRequestFacts } from "./facts.ts";
import { isOutdated, knownStates } from "./newest-state.ts";

/**
 * What to do about a pull request: by its newest known state, whichever of its events is at hand, so that every order of
 * its events ends alike. A delivery about a pull request of which no state is known does nothing.
 *
 * @throws HostUnavailable when an environment is to be created and its companion's host can't be asked, SecretsUnavailable
 */
export async function decidePullRequest(subject: Subject, number: number, context: DecisionContext): Promise<Decided> {
  const { repository, host } = subject;
  const name = pullRequestEnvironmentName(repository.metadata.name, number);
  const key = pullRequestKey(host, repository.metadata.name, number);
  const facts = factsOf(subject, key, context);
  if (facts === undefined) return nothing("PullRequestUnknown", "no event of this pull request has arrived yet");
  const namesake = namesakeOf(name, key, context);
  if (isOutdated(facts.states, appliedStates(namesake, context.recordsOf(key)))) {
    return nothing("Outdated", "a newer state of the pull request was acted on before");
  }
  const head = { ...headOf(facts.state, subject, context), ...mergeCommitOf(facts) };
  const decided = pullRequestDecision(facts, namesake, head);
  return "mayCreate" in decided ? creationOf({ ...decided, name, facts, head, subject }, context) : decided;
}

/** The states that the environment and the records of former ones remember, when the deliveries may be dropped. */
function appliedStates(namesake: Namesake | undefined, records: readonly EnvironmentRecord[]): readonly AppliedState[] {
  const present = namesake?.isOwn ? [appliedState(namesake.environment)] : [];
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

function approvedCommits(deliveries: readonly WebhookDelivery[], atHand: WebhookEvent): ReadonlySet<string> {
  const stored = deliveries.filter(({ spec }) => spec.door === "approval").map(({ spec }) => spec.event);
  return new Set([...stored, atHand].flatMap(({ approval }) => approval?.commit ?? []));
}

function formerEnvironment(
  records: readonly EnvironmentRecord[],
  deliveries: readonly WebhookDelivery[],
): FormerEnvironment | undefined {
  const record = records.toSorted((one, other) => deletedMs(one) - deletedMs(other)).at(-1);
  if (record === undefined) return undefined;
  // A canceled pipeline that deletes is no event of the pull request.
  const events = deliveries.filter(({ spec }) => spec.event.pipeline === undefined);
  const written = events.flatMap(({ status }) => status?.environments ?? []);
  const isDeletedByEvent = written.some(({ uid, action }) => uid === record.spec.uid && action === "deleted");
  return { record, isDeletedByEvent };
}

const deletedMs = ({ spec }: EnvironmentRecord) => Date.parse(spec.deletedAt);

function namesakeOf(name: string, key: string, { environments }: DecisionContext): Namesake | undefined {
  const environment = environments.find(name);
  return environment && { environment, isOwn: triggerKey(environment.spec.trigger) === key };
}

/**
 * The commit is named, so no ref is read. A fork's branch is named by the ref under which our repository has it, because
 * its own name means another branch here.
 */
function headOf(state: PullRequestState, { host }: Subject, { settings }: DecisionContext): Head {
  const kind = settings.hosts.find(({ id }) => id === host)?.kind;
  const requests = kind === "gitlab" ? "merge-requests" : "pull";
  const branch = state.isFork ? `refs/${requests}/${state.number}/head` : state.headRef;
  return branchProblem(branch) === undefined ? { branch, commit: state.headCommit } : { commit: state.headCommit };
}

/**
 * The commit that merges the head for a test. Of a head the first one that was reported is the one that its pipelines build: the host makes
 * another one when the base moves. In the event of a push it may still be that of the head before, which is left out.
 */
function mergeCommitOf({ state: { headCommit }, states }: PullRequestFacts): Pick<Head, "mergeCommit"> {
  const isOfHead = ({ state }: (typeof states)[number]) => state.headCommit === headCommit;
  const ofOthers = new Set(states.filter((one) => !isOfHead(one)).map(({ state }) => state.mergeCommit));
  const ofHead = states.filter(isOfHead).map(({ state }) => state.mergeCommit);
  const commit = ofHead.find((one) => one !== undefined && !ofOthers.has(one));
  return commit === undefined ? {} : { mergeCommit: { head: headCommit, commit } };
}
