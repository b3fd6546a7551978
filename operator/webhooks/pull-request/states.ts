import { digestOf } from "../../../crds/digest.ts";
import type { AppliedState } from "../../../crds/environment/applied-state.ts";
import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { hostedRepository, isRenamed, type Repository } from "../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { RuleVerdict, WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { HostedPullRequest, HostedRepository, PullRequestReader } from "../../ports/webhooks/pull-request-host.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { type DecisionContext, type RepositoryEvent, verdict } from "../decision.ts";
import { formatOf } from "../senders.ts";
import { refetchedDelivery } from "../stored.ts";

/** State of a pull request at one of its events. */
export interface KnownState {
  readonly state: PullRequestState;
  /** Time of the state: by the host's clock, else its arrival, in milliseconds since 1970. */
  readonly atMs: number;
  /** Arrival, by our clock. */
  readonly receivedAtMs: number;
  /** True when it was fetched from the host. */
  readonly isRefetched: boolean;
  /** True when the pull request may have labels that the state does not show; see `WebhookFormat.mayHideLabels`. */
  readonly isUnsure: boolean;
}

type StateEvent = Pick<WebhookDelivery["spec"], "source" | "verified" | "event" | "receivedAt">;

/**
 * All known states of a pull request, newest last, with the state of the current event, stored or not. The order of
 * arrival decides only without the host's times.
 */
export function knownStates(
  deliveries: readonly WebhookDelivery[],
  { event, delivery, host }: Pick<RepositoryEvent, "event" | "delivery" | "host">,
  context: DecisionContext,
): readonly KnownState[] {
  if (deliveries.some(({ metadata }) => metadata.name === delivery)) return storedStates(deliveries, host, context);
  const receivedAt = context.clock.now().toISOString();
  const current: StateEvent = { source: "repohost", verified: true, event, receivedAt };
  return statesOf([...deliveries.map(({ spec }) => spec), current], host, context);
}

/** Known states without a current event; see `knownStates`. */
export function storedStates(
  deliveries: readonly WebhookDelivery[],
  host: string,
  context: DecisionContext,
): readonly KnownState[] {
  const events = deliveries.map(({ spec }) => spec);
  return statesOf(events, host, context);
}

function statesOf(events: readonly StateEvent[], host: string, context: DecisionContext): readonly KnownState[] {
  const format = formatOf({ host }, context);
  const states = events.flatMap(({ source, verified, event: { pullRequest: state }, receivedAt }) => {
    if (!verified || state === undefined) return [];
    const receivedAtMs = Date.parse(receivedAt);
    const atMs = state.updatedAt === undefined ? receivedAtMs : Date.parse(state.updatedAt);
    const isRefetched = source === "refetch";
    return [{ state, atMs, receivedAtMs, isRefetched, isUnsure: !isRefetched && format.mayHideLabels(state) }];
  });
  return statesByAge(states);
}

/**
 * States by age, newest last. Hosts give whole seconds. Within one, a fetched state is newer than earlier arrivals;
 * then a closed one is newest.
 */
export function statesByAge(states: readonly KnownState[]): readonly KnownState[] {
  const lastRefetchMs = refetchTimes(states);
  const ranked = states.map((one) => ({ one, refetchedAtMs: lastRefetchMs(one) }));
  ranked.sort((a, b) => a.one.atMs - b.one.atMs || a.refetchedAtMs - b.refetchedAtMs || ofOneSecond(a.one, b.one));
  return ranked.map(({ one }) => one);
}

/** Last fetch within a state's second, before its arrival; 0 without one. */
function refetchTimes(states: readonly KnownState[]): (state: KnownState) => number {
  const refetched = Map.groupBy(
    states.filter(({ isRefetched }) => isRefetched),
    ({ atMs }) => atMs,
  );
  const ascending = new Map(
    [...refetched].map(([atMs, ones]) => [atMs, ones.map((one) => one.receivedAtMs).sort((a, b) => a - b)]),
  );
  return ({ atMs, receivedAtMs, isRefetched }) => {
    // A fetched state is its own last one.
    const before = countBefore(ascending.get(atMs) ?? [], isRefetched ? receivedAtMs + 1 : receivedAtMs);
    return ascending.get(atMs)?.[before - 1] ?? 0;
  };
}

function countBefore(ascending: readonly number[], limit: number): number {
  let [from, to] = [0, ascending.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ascending[middle] as number) < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}

function ofOneSecond(one: KnownState, other: KnownState): number {
  const rank = ({ isRefetched, state }: KnownState) => (isRefetched ? 0 : state.state === "closed" ? 2 : 1);
  return rank(one) - rank(other) || one.receivedAtMs - other.receivedAtMs;
}

/**
 * True when the newest known state is older than an applied one, because later deliveries were dropped. Within one
 * second, the end of a pull request is newer than an event that shows it open.
 *
 * @param states newest last
 */
export function isOutdated(states: readonly KnownState[], applied: readonly AppliedState[]): boolean {
  const newest = states.at(-1);
  if (newest?.state.updatedAt === undefined) return false;
  const { state, atMs, isRefetched } = newest;
  return applied.some((one) => {
    const appliedMs = Date.parse(one.at);
    if (appliedMs !== atMs) return appliedMs > atMs;
    return one.state === "closed" && state.state === "open" && !isRefetched;
  });
}

/** States of the newest one's second, without those known before the last fetch. @param states newest last */
export function sameSecondStates(newest: KnownState, states: readonly KnownState[]): readonly KnownState[] {
  const lastRefetchMs = refetchTimes(states);
  const since = lastRefetchMs(newest);
  return states.filter((one) => one !== newest && one.atMs === newest.atMs && lastRefetchMs(one) === since);
}

/** Dependencies of a refetch, whose answer is stored as a delivery of its own. */
export interface RefetchContext {
  readonly pullRequestReader: Pick<PullRequestReader, "pullRequest">;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "claim">;
  readonly decisionContext: DecisionContext;
  readonly clock: Clock;
}

/**
 * Refetches the stale pull requests of a delivery, and stores the answers for the decision. Without an answer the
 * decision uses known states.
 *
 * @returns verdicts for the delivery's trace; empty without a refetch
 * @throws ClusterUnavailable when an answer can't be stored
 */
export async function refetch(
  delivery: WebhookDelivery,
  context: RefetchContext,
  signal: AbortSignal,
): Promise<readonly RuleVerdict[]> {
  const verdicts: RuleVerdict[] = [];
  for (const stale of statesToRefetch(delivery, context.decisionContext)) {
    const { repository, newest } = stale;
    const answer = await fetchState(stale, context, signal);
    const problem = typeof answer === "string" ? `what is known decides, because ${answer}` : undefined;
    verdicts.push(verdict(repository, "state_refetched", problem));
    if (typeof answer === "string") continue;
    const state = withAction(answer, newest.state, repository.spec.pullRequest);
    // A later answer to the same delivery may be another one.
    const cause = digestOf([delivery.metadata.name, state]);
    const { name, spec } = refetchedDelivery({ repository, state, cause }, context.clock.now());
    await context.webhookDeliveries.claim(name, spec);
  }
  return verdicts;
}

async function fetchState(
  { repository, hosted, number }: StaleState,
  { pullRequestReader }: RefetchContext,
  signal: AbortSignal,
) {
  if (isRenamed(repository)) return "the Repository has a former name on its host";
  try {
    return (await pullRequestReader.pullRequest(hosted, number, signal)) ?? "the host knows no such pull request";
  } catch (error) {
    if (signal.aborted) throw error;
    return `the host could not be asked: ${(error as Error).message}`;
  }
}

/** The state with the action of the missed event. @param former newest known state */
export function withAction(
  state: HostedPullRequest,
  former: PullRequestState | undefined,
  rules: PullRequestRules = {},
): PullRequestState {
  if (state.state === "closed") return { ...state, action: "closed" };
  if (former === undefined) return { ...state, action: "opened" };
  if (former.state === "closed") return { ...state, action: "reopened" };
  return { ...state, action: differ(former, state, rules) ? "updated" : "other" };
}

/** A pull request with a state that only its host knows. */
interface StaleState {
  readonly repository: Repository;
  readonly number: number;
  readonly hosted: HostedRepository;
  readonly newest: KnownState;
}

/** Pull requests to refetch before a delivery is decided; none of hosts without a token in the settings. */
export function statesToRefetch({ metadata, spec }: WebhookDelivery, context: DecisionContext): readonly StaleState[] {
  const { source, event, host = "", repositories = [] } = spec;
  const number = event.pullRequest?.number ?? event.approval?.number;
  // A fetched state needs no refetch, so that each event causes one.
  if (number === undefined || source === "refetch") return [];
  return repositories.flatMap((name) => {
    const repository = context.repositories.find(name);
    const hosted = repository && hostedRepository(repository, context.settings);
    if (hosted?.host !== host || repository === undefined || !getsEnvironments(repository, number, context)) return [];
    const stored = context.deliveries.ofPullRequest(pullRequestKey(host, name, number));
    const states = knownStates(stored, { event, host, delivery: metadata.name }, context);
    const newest = states.at(-1);
    if (newest === undefined || !isStale(newest, states, repository.spec.pullRequest ?? {})) return [];
    return [{ repository, number, hosted, newest }];
  });
}

function getsEnvironments({ metadata, spec }: Repository, number: number, { environments }: DecisionContext): boolean {
  const name = pullRequestEnvironmentName(metadata.name, number);
  return spec.pullRequest?.enabled === true || environments.find(name) !== undefined;
}

/** True when the newest known state may be outdated. A fetched state never is. */
function isStale(newest: KnownState, states: readonly KnownState[], rules: PullRequestRules): boolean {
  if (newest.isRefetched) return false;
  if (newest.isUnsure && (rules.requiredLabels ?? []).length > 0) return true;
  // Without a time only the arrival gives the order.
  const others = newest.state.updatedAt === undefined ? states : sameSecondStates(newest, states);
  return others.some(({ state }) => differ(state, newest.state, rules));
}

/** True when two states of a pull request differ to the rules. */
export function differ(one: HostedPullRequest, other: HostedPullRequest, rules: PullRequestRules): boolean {
  return JSON.stringify(fieldsForRules(one, rules)) !== JSON.stringify(fieldsForRules(other, rules));
}

function fieldsForRules(pull: HostedPullRequest, { requiredLabels = [], skipDraft = false }: PullRequestRules) {
  if (pull.state === "closed") return [pull.state, pull.merged];
  const labels = requiredLabels.map((label) => pull.labels.includes(label));
  return [pull.headCommit, pull.headRef, pull.baseRef, pull.isFork, skipDraft && pull.draft, labels];
}
