/** Second decision about a pull request's environment: replicas deciding at the same moment don't see each other. */
import { triggerKey } from "../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isPending, type WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { Reconcile } from "../../kit/controller/controller.ts";
import type { CommitStatusReporter } from "../../ports/webhooks/pull-request-host.ts";
import type { WebhookDeliveries } from "../../ports/webhooks/webhook-deliveries.ts";
import { type ProcessingContext, processDelivery } from "../../webhooks/process.ts";
import { type RefetchContext, refetch, storedStates } from "../../webhooks/pull-request/states.ts";
import { dated } from "../../webhooks/stored.ts";
import { isPresent } from "./watches.ts";

/** The ports of the recheck of pull requests. */
export interface PullRequestRecheckDependencies extends ProcessingContext, RefetchContext {
  readonly webhookDeliveries: WebhookDeliveries;
  readonly pullRequestHost: CommitStatusReporter;
}

/**
 * Decides by the newest known state about the environment of this name; the outcome belongs to that state's delivery.
 * Creates nothing, and does nothing while a delivery of the pull request is pending.
 */
export function createRecheck(context: PullRequestRecheckDependencies): Reconcile {
  const { decisionContext, webhookDeliveries, clock } = context;
  const onPresent: ProcessingContext["decide"] = async (subject, seen) =>
    (await context.decide(subject, seen)).filter(({ decision }) => decision.do !== "create");
  return async (name, { signal }) => {
    const environment = decisionContext.environments.find(name);
    const newest = environment && isPresent(environment) ? newestOf(environment, context) : undefined;
    if (newest === undefined) return;
    await refetch(newest, context, signal);
    const status = await processDelivery(newest, { ...context, decide: onPresent }, { atOnce: "all", signal });
    if (status.phase === "acted") await webhookDeliveries.finish(newest, dated(status, clock.now()));
  };
}

/** The delivery that reported the newest state of the pull request; none while one is to be decided. */
function newestOf(
  { spec }: EphemeralEnvironment,
  { decisionContext }: PullRequestRecheckDependencies,
): WebhookDelivery | undefined {
  const deliveries = decisionContext.deliveries.ofPullRequest(triggerKey(spec.trigger) ?? "");
  if (deliveries.some(isPending)) return undefined;
  const newest = storedStates(deliveries, spec.trigger?.provider ?? "", decisionContext).at(-1);
  return newest && deliveries.find(({ spec: { event } }) => event.pullRequest === newest.state);
}
