/** When only the host of a pull request knows its state. */
import { pullRequestKey } from "../../../crds/environment/environment-record.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { fullNameOf, type Repository } from "../../../crds/repository/repository.ts";
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { HostedRepository } from "../../ports/webhooks/pull-request-host.ts";
import type { HostedPullRequest } from "../../ports/webhooks/pull-request-reader.ts";
import type { DecisionContext } from "../decision.ts";
import { type KnownState, knownStates, rivalsOf } from "./newest-state.ts";

/** A pull request whose host is to be asked. */
export interface Question {
  readonly repository: Repository;
  readonly number: number;
  readonly hosted: HostedRepository;
  /** The newest state as far as it is known. */
  readonly newest: KnownState;
}

/** What is to be asked before a delivery can be decided; nothing of hosts for which the settings have no token. */
export function questionsOf({ metadata, spec }: WebhookDelivery, world: DecisionContext): readonly Question[] {
  const { door, event, host = "", repositories = [] } = spec;
  const number = event.pullRequest?.number ?? event.approval?.number;
  // An answer raises no question, so that each event asks once.
  if (number === undefined || door === "inquiry") return [];
  return repositories.flatMap((name) => {
    const repository = world.repositories.find(name);
    const hosted = repository && hostedAt(repository, world);
    if (hosted?.host !== host || repository === undefined || !isConcerned(repository, number, world)) return [];
    const stored = world.deliveries.ofPullRequest(pullRequestKey(host, name, number));
    const states = knownStates(stored, { event, host, delivery: metadata.name }, world);
    const newest = states.at(-1);
    if (newest === undefined || !isInDoubt(newest, states, repository.spec.pullRequest ?? {})) return [];
    return [{ repository, number, hosted, newest }];
  });
}

/** Where a Repository is on its host; `undefined` when the settings have no token to ask it with. */
export function hostedAt(
  repository: Repository,
  { settings: { hosts } }: { readonly settings: Pick<DecisionContext["settings"], "hosts"> },
): HostedRepository | undefined {
  const host = hosts.find(({ id }) => id === repository.spec.host);
  return host?.token === undefined ? undefined : { host: host.id, fullName: fullNameOf(repository) };
}

function isConcerned({ metadata, spec }: Repository, number: number, { environments }: DecisionContext): boolean {
  const name = pullRequestEnvironmentName(metadata.name, number);
  return spec.pullRequest?.enabled === true || environments.find(name) !== undefined;
}

/** Whether the newest known state may not be the newest one. What the host was asked for leaves no doubt. */
function isInDoubt(newest: KnownState, states: readonly KnownState[], rules: PullRequestRules): boolean {
  if (newest.isAsked) return false;
  if (newest.isUnsure && (rules.requiredLabels ?? []).length > 0) return true;
  // Without a time only the arrival tells the order.
  const others = newest.state.updatedAt === undefined ? states : rivalsOf(newest, states);
  return others.some(({ state }) => differ(state, newest.state, rules));
}

/** Whether the rules see a difference between two states of a pull request. */
export function differ(one: HostedPullRequest, other: HostedPullRequest, rules: PullRequestRules): boolean {
  return JSON.stringify(whatRulesRead(one, rules)) !== JSON.stringify(whatRulesRead(other, rules));
}

function whatRulesRead(pull: HostedPullRequest, { requiredLabels = [], skipDraft = false }: PullRequestRules) {
  if (pull.state === "closed") return [pull.state, pull.merged];
  const labels = requiredLabels.map((label) => pull.labels.includes(label));
  return [pull.headCommit, pull.headRef, pull.baseRef, pull.isFork, skipDraft && pull.draft, labels];
}
