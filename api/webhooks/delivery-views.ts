import type { RuleVerdict, WebhookDelivery } from "../../crds/webhooks/webhook-delivery.ts";
import type { WebhookEvent } from "../../crds/webhooks/webhook-event.schema.ts";
import type { Outcome } from "../../operator/ports/api/webhook-inbox.ts";
import type { DeliveryReport, DeliverySummary, OutcomeReport } from "./delivery-schemas.ts";

/** Status of a delivery without an outcome. */
const WAITING = { phase: "pending", reason: "Stored", message: "it is stored and will be decided" } as const;

/** Filters an outcome's environments by the caller's rights. */
export type Visible = (environments: Outcome["environments"]) => Outcome["environments"];

/** Delivery in a list. */
export function toSummary({ metadata, spec, status = WAITING }: WebhookDelivery, visible: Visible): DeliverySummary {
  const { phase, reason, message } = status;
  return {
    id: metadata.name,
    source: spec.source,
    host: spec.host ?? null,
    delivery_id: spec.deliveryId ?? null,
    event_name: spec.eventName,
    event: spec.event.type,
    ...reported(spec.event),
    verified: spec.verified,
    repositories: spec.repositories ?? [],
    received_at: instant(spec.receivedAt),
    finished_at: "finishedAt" in status && status.finishedAt !== undefined ? instant(status.finishedAt) : null,
    status: phase,
    reason,
    message,
    environments: toTouched(visible("environments" in status ? (status.environments ?? []) : [])),
  };
}

/** Delivery in full. */
export function toDeliveryReport(delivery: WebhookDelivery, visible: Visible): DeliveryReport {
  const { spec, status } = delivery;
  return { ...toSummary(delivery, visible), trace: toTrace(status?.trace), note: spec.message ?? null };
}

/** Outcome of a delivery that was just processed. */
export function toOutcome(outcome: Outcome, visible: Visible): OutcomeReport {
  const { delivery, state, reason, message, environments, trace } = outcome;
  return {
    delivery: delivery ?? null,
    outcome: state,
    reason,
    message,
    environments: toTouched(visible(environments)),
    trace: toTrace(trace),
  };
}

/** Verdicts of rules. */
export function toTrace(trace: readonly RuleVerdict[] = []): DeliveryReport["trace"] {
  return trace.map(({ repository = null, rule, passed, message = null }) => ({ repository, rule, passed, message }));
}

function toTouched(environments: Outcome["environments"]): DeliverySummary["environments"] {
  return environments.map(({ name, uid, action }) => ({ id: uid, name, action }));
}

function reported({ pullRequest, approval, pipeline, push, mergeGroup }: WebhookEvent) {
  const commit = pullRequest?.headCommit ?? [approval, pipeline, push, mergeGroup].find(Boolean)?.commit;
  return {
    action: pullRequest?.action ?? null,
    number: pullRequest?.number ?? approval?.number ?? null,
    commit: commit ?? null,
  };
}

const instant = (text: string) => new Date(text).toISOString();
