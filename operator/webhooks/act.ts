import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { WebhookDelivery, WebhookDeliveryStatus } from "../../crds/webhooks/webhook-delivery.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import type { DecidedWrites } from "../ports/environments.ts";
import type { Decision } from "./decision.ts";

/** What acting takes of the world. */
export interface ActContext {
  readonly writes: DecidedWrites;
  readonly audit: AuditTrail;
  /** Names audit records. */
  readonly newId: () => string;
}

/** A decision that is carried out by one write. */
export type Doable = Extract<Decision, { readonly do: "create" | "update" | "delete" }>;
/** An environment that was written, and how. */
export type Written = NonNullable<WebhookDeliveryStatus["environments"]>[number];

const ACTIONS = { create: "created", update: "updated", delete: "deleted" } as const;

/** Whether the decision is carried out by a write. */
export function isDoable(decision: Decision): decision is Doable {
  return decision.do in ACTIONS;
}

/** The environment's name. */
export function targetOf(decision: Doable): string {
  return decision.do === "create" ? decision.name : decision.environment.metadata.name;
}

/**
 * Carries out a decision by one write, a deletion by two where something is to be noted first, and records it.
 *
 * @returns "changed" when the world is no longer what the decision was taken from: decide again
 * @throws what the DecidedWrites port throws
 */
export async function act(
  decision: Doable,
  delivery: WebhookDelivery,
  context: ActContext,
): Promise<Written | "changed"> {
  const auditId = context.newId();
  const environment = await write(decision, auditId, context);
  if (environment === "changed") return "changed";
  const { name, uid } = environment.metadata;
  await context.audit.add({
    auditId,
    event: "change",
    action: `webhook ${decision.do}`,
    actor: { method: "webhook", delivery: delivery.metadata.name, ...loginOf(delivery) },
    concerns: name,
    note: decision.reason,
    objects: [{ name, uid }],
    outcome: "accepted",
  });
  return { name, uid, action: ACTIONS[decision.do] };
}

async function write(
  decision: Doable,
  auditId: string,
  { writes }: ActContext,
): Promise<EphemeralEnvironment | "changed"> {
  if (decision.do === "create") return writes.create(decision.name, decision.spec, auditId, decision.annotations);
  const { environment, annotations = {} } = decision;
  if (decision.do === "update") return writes.revise(environment, decision.spec, auditId, annotations);
  const has = environment.metadata.annotations ?? {};
  const isNoted = Object.entries(annotations).every(([name, value]) => has[name] === value);
  const noted = isNoted ? environment : await writes.revise(environment, {}, auditId, annotations);
  return noted === "changed" || (await writes.remove(noted)) === "changed" ? "changed" : noted;
}

/** The author on the host, as far as the event tells it. */
function loginOf({ spec: { event } }: WebhookDelivery) {
  const login = event.pullRequest?.login ?? event.approval?.by;
  return login === undefined ? {} : { login };
}
