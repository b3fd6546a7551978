/** The environment of a pull request, decided once more: replicas that decide at the same moment know not all of each other. */
import { triggerKey } from "../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { isPending, type WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import { type Enqueue, endOf, type Reconcile } from "../../kit/controller/controller.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type { Caches } from "../../ports/caches.ts";
import type { Subject } from "../../webhooks/decision.ts";
import { inquire } from "../../webhooks/pull-request/inquiry.ts";
import { knownStates } from "../../webhooks/pull-request/newest-state.ts";
import { settle } from "../../webhooks/settle.ts";
import { dated } from "../../webhooks/stored.ts";
import type { DeliveryContext } from "../webhook-delivery/reconcile.ts";

/** How long no process may have led while environments were made. */
const UNLED_MS = 60 * 60_000;

/**
 * Decides by the newest known state about the environment of this name. The outcome is that of the delivery that reported
 * the state. Nothing is made; while a delivery of the pull request is to be decided, nothing is done.
 */
export function createRecheck(context: DeliveryContext): Reconcile {
  const { world, webhookDeliveries, clock } = context;
  const onPresent: DeliveryContext["decide"] = async (subject, seen) =>
    (await context.decide(subject, seen)).filter(({ decision }) => decision.do !== "create");
  return async (name, { signal }) => {
    const environment = world.environments.find(name);
    const newest = environment && isPresent(environment) ? newestOf(environment, context) : undefined;
    if (newest === undefined) return;
    await inquire(newest, context, signal);
    const status = await settle(newest, { ...context, decide: onPresent }, { atOnce: "all", signal });
    if (status.phase === "acted") await webhookDeliveries.finish(newest, dated(status, clock.now()));
  };
}

/** Whether it is a pull request's, and stays. */
function isPresent({ metadata, spec }: EphemeralEnvironment): boolean {
  return spec.trigger?.kind === "pull_request" && metadata.deletionTimestamp === undefined;
}

/** The delivery that reported the newest state of the pull request; none while one is to be decided. */
function newestOf({ spec }: EphemeralEnvironment, { world }: DeliveryContext): WebhookDelivery | undefined {
  const deliveries = world.deliveries.ofPullRequest(triggerKey(spec.trigger) ?? "");
  if (deliveries.some(isPending)) return undefined;
  const nothingAtHand: Pick<Subject, "event" | "delivery" | "host"> = {
    event: { type: "other" },
    delivery: undefined,
    host: spec.trigger?.provider ?? "",
  };
  const newest = knownStates(deliveries, nothingAtHand, world).at(-1);
  return newest && deliveries.find(({ spec: { event } }) => event.pullRequest === newest.state);
}

/** Enqueues the environments of pull requests that are new, and those about which a delivery was decided. */
export function enqueueOnPullRequests(
  { webhookDeliveries, environments }: Pick<Caches, "webhookDeliveries" | "environments">,
  enqueue: Enqueue,
): () => void {
  return endOf([
    environments.subscribe((name, current, previous) => {
      if (current !== undefined && previous === undefined && isPresent(current)) enqueue(name);
    }),
    webhookDeliveries.subscribe((_key, current) => {
      const number = current?.spec.event.pullRequest?.number;
      if (current === undefined || number === undefined || isPending(current)) return;
      for (const repository of current.spec.repositories ?? []) {
        const name = pullRequestEnvironmentName(repository, number);
        if (environments.get(name) !== undefined) enqueue(name);
      }
    }),
  ]);
}

/** The environments of pull requests that may have been made while no process led. */
export function newPullRequestEnvironments({ environments }: Pick<Caches, "environments">, clock: Clock): string[] {
  const now = clock.now();
  const isNew = ({ metadata }: EphemeralEnvironment) => elapsedMs(new Date(metadata.creationTimestamp), now) < UNLED_MS;
  return environments
    .list()
    .filter((one) => isPresent(one) && isNew(one))
    .map(({ metadata }) => metadata.name);
}
