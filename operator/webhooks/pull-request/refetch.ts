/** Refetches a pull request's state from its host; the answer is stored as a delivery of its own. */
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { RuleVerdict, WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestAction, PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { HostedPullRequest, PullRequestReader } from "../../ports/webhooks/pull-request-host.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { type DecisionContext, verdict } from "../decision.ts";
import { refetchedDelivery } from "../stored.ts";
import { differ, type StaleState, statesToRefetch } from "./stale-state.ts";

export interface RefetchContext {
  readonly pullRequestReader: Pick<PullRequestReader, "pullRequest">;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "claim">;
  readonly world: DecisionContext;
  readonly clock: Clock;
}

const ASKED = "host_asked";

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
    const answer = await ask(stale, context, signal);
    const problem = typeof answer === "string" ? `what is known decides, because ${answer}` : undefined;
    verdicts.push(verdict(repository, ASKED, problem));
    if (typeof answer === "string") continue;
    const state = withAction(answer, newest.state, repository.spec.pullRequest);
    const { name, spec } = refetchedDelivery({ repository, state, cause: delivery.metadata.name }, context.clock.now());
    await context.webhookDeliveries.claim(name, spec);
  }
  return verdicts;
}

async function ask(
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
  return { ...state, action: actionSince(former, state, rules) };
}

function actionSince(
  former: PullRequestState | undefined,
  state: HostedPullRequest,
  rules: PullRequestRules,
): PullRequestAction {
  if (state.state === "closed") return "closed";
  if (former === undefined) return "opened";
  if (former.state === "closed") return "reopened";
  return differ(former, state, rules) ? "updated" : "other";
}
