import { referredVariables } from "../../../crds/config-set.ts";
import { appliedAnnotation, appliedState } from "../../../crds/environment/applied-state.ts";
import { type EnvironmentRecord, pullRequestKey, triggerKey } from "../../../crds/environment/environment-record.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { branchProblem } from "../../../crds/repository/branches.ts";
import { admits, type Repository } from "../../../crds/repository/repository.ts";
import { TTL_DEFAULT_HOURS } from "../../../crds/schema.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState, WebhookEvent } from "../../../crds/webhooks/webhook-event.schema.ts";
import { completed, problemIn } from "../creation.ts";
import { type Decided, type DecisionContext, nothing, type RepositoryEvent, verdict } from "../decision.ts";
import { withReports } from "../pipeline/report.ts";
import { formatOf } from "../senders.ts";
import { type ExistingEnvironment, type Head, type MayCreate, pullRequestDecision } from "./decision.ts";
import type { RuleInput } from "./rules.ts";
import { isOutdated, knownStates } from "./states.ts";

/**
 * Decision about a pull request by its newest known state, whatever the current event, so that every order of events
 * ends alike. Without a known state nothing is done.
 *
 * @throws HostUnavailable when a creation needs the companion's unreachable host, SecretsUnavailable
 */
export async function decidePullRequest(
  subject: RepositoryEvent,
  number: number,
  context: DecisionContext,
): Promise<Decided> {
  const { repository, host } = subject;
  const name = pullRequestEnvironmentName(repository.metadata.name, number);
  const key = pullRequestKey(host, repository.metadata.name, number);
  const input = ruleInput(subject, key, context);
  if (input === undefined) return nothing("PullRequestUnknown", "no event of this pull request has arrived yet");
  const existing = existingOf(name, key, context);
  if (isOutdated(input.states, appliedStates(existing, context.recordsOf(key)))) {
    return nothing("Outdated", "a newer state of the pull request was acted on before");
  }
  const head = { ...headOf(input.state, subject, context), ...mergeCommitOf(input) };
  const decided = pullRequestDecision(input, existing, head);
  return "mayCreate" in decided ? creationOf({ ...decided, name, input, head, subject }, context) : decided;
}

/** States stored in the environment and in records, for dropped deliveries. */
function appliedStates(existing: ExistingEnvironment | undefined, records: readonly EnvironmentRecord[]) {
  const present = existing?.isOwn ? [appliedState(existing.environment)] : [];
  return [...present, ...records.map(({ spec }) => spec.appliedState)].filter((state) => state !== undefined);
}

function ruleInput(subject: RepositoryEvent, key: string, context: DecisionContext): RuleInput | undefined {
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

function formerEnvironment(records: readonly EnvironmentRecord[], deliveries: readonly WebhookDelivery[]) {
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
function headOf(state: PullRequestState, subject: RepositoryEvent, context: DecisionContext): Head {
  const branch = state.isFork ? formatOf(subject, context).pullRequestRef(state.number) : state.headRef;
  return branchProblem(branch) === undefined ? { branch, commit: state.headCommit } : { commit: state.headCommit };
}

/**
 * Test merge commit of the head. The pipelines build the first reported one: the host makes another when the base
 * moves. A push event may still have that of the former head, which is left out.
 */
function mergeCommitOf({ state: { headCommit }, states }: RuleInput): Pick<Head, "mergeCommit"> {
  const isOfHead = ({ state }: (typeof states)[number]) => state.headCommit === headCommit;
  const ofOthers = new Set(states.filter((one) => !isOfHead(one)).map(({ state }) => state.mergeCommit));
  const ofHead = states.filter(isOfHead).map(({ state }) => state.mergeCommit);
  const commit = ofHead.find((one) => one !== undefined && !ofOthers.has(one));
  return commit === undefined ? {} : { mergeCommit: { head: headCommit, commit } };
}

interface Creation extends MayCreate {
  readonly name: string;
  readonly input: RuleInput;
  readonly head: Head;
  readonly subject: RepositoryEvent;
}

/** Creates a pull request's environment, if the companion's Repository and the config set can be used. */
async function creationOf(creation: Creation, context: DecisionContext): Promise<Decided> {
  const { name, input, subject, head } = creation;
  const { repository, state } = input;
  const sourceOf = (one: Repository) => {
    const named = { ...head, repository: one.metadata.name, branch: head.branch ?? state.baseRef };
    return withReports(named, one, input);
  };
  // The author of a fork must not choose a branch of ours by its name.
  const branch = state.isFork ? undefined : state.headRef;
  const components = await completed({ repository, sourceOf, branch }, context);
  const trace = [...creation.trace, verdict(repository, "companion_repo", problemIn(components))];
  if (typeof components === "string") return nothing("CompanionUnusable", components, trace);

  const configSet = configSetOf(input, components.groups, context);
  const all = [...trace, verdict(repository, "config_set", problemIn(configSet))];
  if (typeof configSet === "string") return nothing("ConfigSetUnusable", configSet, all);

  const ttlHours = input.rules.ttlHours ?? configSet?.spec.ttlDefaultHours ?? TTL_DEFAULT_HOURS;
  const spec: EnvironmentSpec = {
    ttlHours: Math.min(ttlHours, context.settings.ttl.maximumHours),
    ...(configSet !== undefined && { configSet: { name: configSet.metadata.name } }),
    ...(configSet?.spec.database?.enabled && { database: { provision: true } }),
    ...components.sources,
    access: { groups: components.groups },
    trigger: triggerOf(input, subject),
  };
  const annotations = appliedAnnotation(state);
  return { decision: { do: "create", name, spec, annotations, reason: "RulesMet" }, trace: all };
}

/** Config set of the rules; a sentence when an environment of this pull request can't have it. */
function configSetOf({ rules, state }: RuleInput, groups: readonly string[], { configSets }: DecisionContext) {
  const name = rules.configSet;
  if (name === undefined) return undefined;
  const configSet = configSets.find(name);
  if (configSet === undefined) return `there is no config set '${name}'`;
  if (configSet.spec.production) return `config set '${name}' is for production`;
  if (!admits(configSet, groups)) return `config set '${name}' is not shared with a group of the environment`;
  const secrets = state.isFork ? referredVariables(configSet.spec, true) : [];
  return secrets.length === 0
    ? configSet
    : `config set '${name}' reads ${secrets.join(", ")} from the secret manager: a fork gets none of it`;
}

function triggerOf({ repository, state }: RuleInput, { host, delivery }: RepositoryEvent) {
  const { number, login } = state;
  return {
    kind: "pull_request" as const,
    provider: host,
    repository: repository.metadata.name,
    number,
    ...(login !== undefined && { login }),
    ...(delivery !== undefined && { delivery }),
  };
}
