/** Detection of pull requests whose state only the host knows. */
import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { hostedRepository, type Repository } from "../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { HostedPullRequest, HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import type { DecisionContext } from "../decision.ts";
import { type KnownState, knownStates, sameSecondStates } from "./newest-state.ts";

/** A pull request whose host is to be asked. */
export interface StaleState {
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
    if (hosted?.host !== host || repository === undefined || !isConcerned(repository, number, world)) return [];
    const stored = world.deliveries.ofPullRequest(pullRequestKey(host, name, number));
    const states = knownStates(stored, { event, host, delivery: metadata.name }, world);
    const newest = states.at(-1);
    if (newest === undefined || !isStale(newest, states, repository.spec.pullRequest ?? {})) return [];
    return [{ repository, number, hosted, newest }];
  });
}

function isConcerned({ metadata, spec }: Repository, number: number, { environments }: DecisionContext): boolean {
  const name = pullRequestEnvironmentName(metadata.name, number);
  return spec.pullRequest?.enabled === true || environments.find(name) !== undefined;
}

/** True when the newest known state may be outdated. A fetched state never is. */
function isStale(newest: KnownState, states: readonly KnownState[], rules: PullRequestRules): boolean {
  if (newest.isAsked) return false;
  if (newest.isUnsure && (rules.requiredLabels ?? []).length > 0) return true;
  // Without a time only the arrival gives the order.
  const others = newest.state.updatedAt === undefined ? states : sameSecondStates(newest, states);
  return others.some(({ state }) => differ(state, newest.state, rules));
}

/** True when two states of a pull request differ to the rules. */
export function differ(one: HostedPullRequest, other: HostedPullRequest, rules: PullRequestRules): boolean {
  return JSON.stringify(whatRulesRead(one, rules)) !== JSON.stringify(whatRulesRead(other, rules));
}

function whatRulesRead(pull: HostedPullRequest, { requiredLabels = [], skipDraft = false }: PullRequestRules) {
  if (pull.state === "closed") return [pull.state, pull.merged];
  const labels = requiredLabels.map((label) => pull.labels.includes(label));
  return [pull.headCommit, pull.headRef, pull.baseRef, pull.isFork, skipDraft && pull.draft, labels];
}
