/** Asking the host for the state of a pull request; the answer is stored as a delivery of its own. */
import type { PullRequestRules } from "../../../crds/repository/webhook-rules.schema.ts";
import type { RuleVerdict, WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestAction, PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { HostedPullRequest, PullRequestReader } from "../../ports/webhooks/pull-request-reader.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { type DecisionContext, verdict } from "../decision.ts";
import { inquiryOf } from "../stored.ts";
import { differ, type Question, questionsOf } from "./doubt.ts";

export interface InquiryContext {
  readonly pullRequestReader: Pick<PullRequestReader, "pullRequest">;
  readonly webhookDeliveries: Pick<WebhookDeliveries, "claim">;
  readonly world: DecisionContext;
  readonly clock: Clock;
}

/** As the trace of a delivery names that its host was asked. */
const ASKED = "host_asked";

/**
 * Asks the host of a delivery whose pull request is in doubt, and stores the answer, which the decision then finds. A host
 * that can't be asked leaves the decision to what is known.
 *
 * @returns what the trace of the delivery says of it; empty when there is no doubt
 * @throws ClusterUnavailable when the answer can't be stored
 */
export async function inquire(
  delivery: WebhookDelivery,
  context: InquiryContext,
  signal: AbortSignal,
): Promise<readonly RuleVerdict[]> {
  const verdicts: RuleVerdict[] = [];
  for (const question of questionsOf(delivery, context.world)) {
    const { repository, newest } = question;
    const answer = await ask(question, context, signal);
    const problem = typeof answer === "string" ? `what is known decides, because ${answer}` : undefined;
    verdicts.push(verdict(repository, ASKED, problem));
    if (typeof answer === "string") continue;
    const state = withAction(answer, newest.state, repository.spec.pullRequest);
    const { name, spec } = inquiryOf({ repository, state, cause: delivery.metadata.name }, context.clock.now());
    await context.webhookDeliveries.claim(name, spec);
  }
  return verdicts;
}

/** The state, or why the host tells none. */
async function ask(
  { hosted, number }: Question,
  { pullRequestReader }: InquiryContext,
  signal: AbortSignal,
): Promise<HostedPullRequest | string> {
  try {
    return (await pullRequestReader.pullRequest(hosted, number, signal)) ?? "the host knows no such pull request";
  } catch (error) {
    if (signal.aborted) throw error;
    return `the host could not be asked: ${(error as Error).message}`;
  }
}

/** The state as the event would have told it that was missed. @param former the newest state that is known */
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
