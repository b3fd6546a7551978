/** Deliveries that wait for a name or a host: one per key, for an hour. */
import { HostUnavailable, SecretsUnavailable } from "../../crds/errors.ts";
import {
  isWaiting,
  type WebhookDelivery,
  type WebhookDeliveryStatus,
  waitingKeyOf,
} from "../../crds/webhooks/webhook-delivery.ts";
import { type Clock, elapsedMs } from "../kit/time/clock.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import { type DecisionContext, usesOf } from "./decision.ts";

/** Limit of a wait; GitHub's merge queue drops a group by then too. */
const LONGEST_WAIT_MS = 60 * 60_000;

/** Start of a delivery's wait: now, unless it waits already. */
export function waitsSince(delivery: WebhookDelivery, clock: Clock): { readonly waitsSince: string } {
  const since = isWaiting(delivery) ? delivery.status?.waitsSince : undefined;
  return { waitsSince: since ?? clock.now().toISOString() };
}

/**
 * Outcome while a host or the secret manager is unreachable; `undefined` for any other error. Replaces the error's
 * message, which may name a Repository that readers must not see.
 */
export function unavailable(
  error: unknown,
  delivery: WebhookDelivery,
  clock: Clock,
): WebhookDeliveryStatus | undefined {
  const [, reason, message] = REASONS.find(([type]) => error instanceof type) ?? [];
  if (reason === undefined) return undefined;
  const { environments } = delivery.status ?? {};
  const written = environments !== undefined && { environments };
  return { phase: "pending", reason, message, ...written, ...waitsSince(delivery, clock) };
}

const REASONS = [
  [HostUnavailable, "HostUnavailable", "the host of a repository can't be asked: it is asked again for an hour"],
  [SecretsUnavailable, "SecretsUnavailable", "the secret manager can't be used: it is tried again for an hour"],
] as const;

/** The outcome, failed after an hour of waiting, with the reason of the wait. */
export function endedWait(status: WebhookDeliveryStatus, now: Date): WebhookDeliveryStatus {
  const { waitsSince: since, ...rest } = status;
  if (since === undefined || elapsedMs(new Date(since), now) < LONGEST_WAIT_MS) return status;
  return { ...rest, phase: "failed" };
}

/**
 * Outcome of a waiting delivery when a newer one waits for the same; `undefined` for the newest. It stays a known state
 * of its pull request.
 */
export function superseded(
  delivery: WebhookDelivery,
  context: { webhookDeliveries: Pick<WebhookDeliveries, "waitingFor">; decisionContext: DecisionContext },
): WebhookDeliveryStatus | undefined {
  const key = waitingKeyOf(delivery);
  if (key === undefined || isReportAwaited(delivery, context.decisionContext)) return undefined;
  const newer = context.webhookDeliveries
    .waitingFor(key)
    .find((other) => isNewer(other, delivery) && !isOtherRunOfCommit(other, delivery));
  if (newer === undefined) return undefined;
  const message = `delivery ${newer.metadata.name} is newer and waits for the same`;
  return { phase: "ignored", reason: "Superseded", message };
}

/** True when an environment waits for this commit's report, which a later commit's does not replace. */
function isReportAwaited({ spec }: WebhookDelivery, context: DecisionContext): boolean {
  const { event, host = "", repositories = [] } = spec;
  const commit = event.pipeline?.commit;
  if (commit === undefined) return false;
  return repositories.some((name) => {
    const repository = context.repositories.find(name);
    const uses = repository === undefined ? [] : usesOf({ repository, host }, context);
    return uses.some(({ desiredCommit }) => desiredCommit === commit);
  });
}

/** True for two pipelines of one commit, such as two workflows: each is recorded. */
function isOtherRunOfCommit({ spec: other }: WebhookDelivery, { spec: one }: WebhookDelivery): boolean {
  const [pipeline, another] = [one.event.pipeline, other.event.pipeline];
  return pipeline !== undefined && pipeline.commit === another?.commit && pipeline.id !== another.id;
}

/** Pipelines by their id on the host; others by arrival. */
function isNewer(other: WebhookDelivery, one: WebhookDelivery): boolean {
  const rank = ({ metadata, spec }: WebhookDelivery) =>
    [spec.event.pipeline?.id ?? 0, Date.parse(spec.receivedAt), metadata.name] as const;
  const [id, atMs, name] = rank(one);
  const [otherId, otherMs, otherName] = rank(other);
  if (otherId !== id) return otherId > id;
  return otherMs === atMs ? otherName > name : otherMs > atMs;
}
