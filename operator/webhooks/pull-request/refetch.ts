/** Refetches a pull request's state from its host; the answer is stored as a delivery of its own. */

import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { hostedRepository, type Repository } from "../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { RuleVerdict, WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import type { HostedPullRequest, PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { type DecisionContext, verdict } from "../decision.ts";
import { refetchedDelivery } from "../stored.ts";
import { type KnownState, knownStates, sameSecondStates } from "./newest-state.ts";

export interface RefetchContext {
  readonly pullRequestReader: Pick<PullRequestReader, "pullRequest">;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "claim">;
  readonly world: DecisionContext;
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
  for (const stale of statesToRefetch(delivery, context.world)) {
    const { repository, newest } = stale;
    const answer = await fetchState(stale, context, signal);
    const problem = typeof answer === "string" ? `what is known decides, because ${answer}` : undefined;
    verdicts.push(verdict(repository, "host_asked", problem));
    if (typeof answer === "string") continue;
    const state = withAction(answer, newest.state, repository.spec.pullRequest);
    const { name, spec } = refetchedDelivery({ repository, state, cause: delivery.metadata.name }, context.clock.now());
    await context.webhookDeliveries.claim(name, spec);
  }
  return verdicts;
}

async function fetchState(
  { hosted, number }: StaleState,
  { pullRequestReader }: RefetchContext,
  signal: AbortSignal,
): Promise<HostedPullRequest | string> {
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
export function statesToRefetch({ metadata, spec }: WebhookDelivery, world: DecisionContext): readonly StaleState[] {
  const { source, event, host = "", repositories = [] } = spec;
  const number = event.pullRequest?.number ?? event.approval?.number;
  // A fetched state needs no refetch, so that each event causes one.
  if (number === undefined || source === "refetch") return [];
  return repositories.flatMap((name) => {
    const repository = world.repositories.find(name);
    const hosted = repository && hostedRepository(repository, world.settings);
    if (hosted?.host !== host || repository === undefined || !getsEnvironments(repository, number, world)) return [];
    const stored = world.deliveries.ofPullRequest(pullRequestKey(host, name, number));
    const states = knownStates(stored, { event, host, delivery: metadata.name }, world);
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
