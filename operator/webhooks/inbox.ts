import { isFinal, type WebhookDelivery, type WebhookDeliveryStatus } from "../../crds/webhooks/webhook-delivery.ts";
import type { UnverifiedMessages } from "../announcements/unverified-message.ts";
import type { Log } from "../kit/log.ts";
import { type Clock, pause } from "../kit/time/clock.ts";
import type { Outcome, VerifiedWebhook, WebhookInbox } from "../ports/facade/webhook-inbox.ts";
import type { WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import { heldBodies } from "./held-bodies.ts";
import { createIntake } from "./intake.ts";
import { createLanes } from "./lanes.ts";
import { questionsOf } from "./pull-request/doubt.ts";
import { type SenderContext, verifySender } from "./senders.ts";
import { type SettleContext, settle } from "./settle.ts";
import { simulate } from "./simulate.ts";
import { approvalOf, dated, deliveryOf, laneOf, type NewDelivery, outcomeOf } from "./stored.ts";
import { unverifiedEvents } from "./unverified.ts";

/** What the inbox is made of. */
export interface InboxContext extends SenderContext, SettleContext {
  readonly deliveries: WebhookDeliveries;
  readonly clock: Clock;
  readonly log: Log;
  readonly unverifiedMessages: UnverifiedMessages;
}

/** Hosts wait ten seconds for an answer. */
const ANSWER_WITHIN_MS = 5_000;

const LATER: WebhookDeliveryStatus = {
  phase: "pending",
  reason: "Stored",
  message: "it is stored and will be decided",
};

/** No call leaves the process while a host waits for the answer. */
const TO_BE_ASKED: WebhookDeliveryStatus = {
  phase: "pending",
  reason: "HostToBeAsked",
  message: "what is known of the pull request leaves a doubt: its host is asked first",
};

/** The WebhookInbox port. */
export function createWebhookInbox(context: InboxContext): WebhookInbox {
  const { deliveries, settings, clock, log } = context;
  const lanes = createLanes();
  /** Decisions whose outcome is not stored yet, by the delivery's name. */
  const underWay = new Map<string, Promise<WebhookDeliveryStatus>>();
  const bodies = heldBodies();
  const unverified = unverifiedEvents(context);
  const intake = createIntake(deliveries, settings.webhooks.pending);

  async function store(delivery: WebhookDelivery, status: WebhookDeliveryStatus): Promise<void> {
    await deliveries
      .finish(delivery, dated(status, clock.now()))
      .catch((error: unknown) => log.warn("an outcome could not be stored: the operator decides anew", { error }));
  }

  /** Decides and acts in turn; the outcome is stored after the answer. What fails is left to the operator. */
  function begin(delivery: WebhookDelivery, alreadyKnown?: WebhookDeliveryStatus): Promise<WebhookDeliveryStatus> {
    const { name } = delivery.metadata;
    const deciding = lanes.run(laneOf(delivery), async () => {
      try {
        if (alreadyKnown !== undefined) return alreadyKnown;
        if (questionsOf(delivery, context.world).length > 0) return TO_BE_ASKED;
        return await settle(delivery, context, { atOnce: "one" });
      } catch (error) {
        log.warn("a delivery is left to the operator", { delivery: name, error });
        return LATER;
      }
    });
    underWay.set(name, deciding);
    const end = () => {
      if (underWay.get(name) === deciding) underWay.delete(name);
    };
    void deciding.then((status) => store(delivery, status)).then(end);
    return deciding;
  }

  /** The outcome, or that there is none yet when a host would wait too long for it. */
  async function answer(name: string, deciding: Promise<WebhookDeliveryStatus>): Promise<Outcome> {
    const ended = new AbortController();
    const late = pause(clock, ANSWER_WITHIN_MS, ended.signal).then(() => LATER);
    const status = await Promise.race([deciding, late]);
    ended.abort();
    return outcomeOf(name, status);
  }

  /** The outcome of the delivery that was claimed before; `undefined` when it has none yet, or may act again. */
  async function former(made: NewDelivery, { metadata: { name }, ...delivery }: WebhookDelivery) {
    if (delivery.spec.digest !== made.spec.digest) return reused(made, context);
    const status = delivery.status ?? (await underWay.get(name));
    if (status?.phase !== "acted" && status?.phase !== "ignored") return undefined;
    return { ...outcomeOf(name, status), state: "duplicate" } as const;
  }

  return {
    async verify(arriving) {
      try {
        return await verifySender(arriving, context, bodies);
      } catch (error) {
        await unverified.noteRefused(arriving, error);
        throw error;
      }
    },
    async accept(webhook) {
      const refused = unstorable(webhook);
      if (refused !== undefined) return refused;
      const made = deliveryOf(webhook, clock.now());
      const { state, delivery } = await intake.claim(made);
      const before = state === "taken" ? await former(made, delivery) : undefined;
      return before ?? answer(made.name, begin(delivery, repeated(delivery, deliveries)));
    },
    simulate: (asked) => simulate(asked, context),
    redeliver: (delivery) => answer(delivery.metadata.name, begin(delivery)),
    async approve(approval) {
      const { delivery } = await intake.claim(approvalOf(approval, clock.now()));
      return answer(delivery.metadata.name, begin(delivery));
    },
    note: unverified.note,
  };
}

/** What is answered and counted without being stored: it would only take the room of what decides something. */
function unstorable({ event, repositories, reason = "no rule speaks of it" }: VerifiedWebhook): Outcome | undefined {
  if (event.type === "ping") return unstored("Ping", "the webhook arrives, and its signature fits");
  if (repositories.length === 0) return unstored("NoRepository", "the event is about no repository");
  return event.type === "other" ? unstored("NothingToDo", reason) : undefined;
}

function unstored(reason: string, message: string): Outcome {
  return { state: "ignored", reason, message, environments: [], trace: [] };
}

/**
 * The outcome of a pipeline's report that another delivery has made already: doing it twice could make an environment that
 * a user has deleted since. Pull requests need no such memory: they are decided by their state.
 */
function repeated(
  { metadata, spec }: WebhookDelivery,
  deliveries: WebhookDeliveries,
): WebhookDeliveryStatus | undefined {
  if (spec.event.pipeline === undefined || spec.meaning === undefined) return undefined;
  const first = deliveries.ofMeaning(spec.meaning).find((one) => one.metadata.uid !== metadata.uid && isFinal(one));
  if (first === undefined) return undefined;
  return { phase: "ignored", reason: "Repeated", message: `delivery ${first.metadata.name} has reported the same` };
}

/** Hosts never use an id for two bodies; an attacker who has the key may. */
async function reused({ name, spec }: NewDelivery, { audit, newId, log }: InboxContext): Promise<Outcome> {
  log.error("a webhook came under the id of another one: it was ignored", { delivery: name, ids: spec.deliveryId });
  await audit.add({
    auditId: newId(),
    event: "denial",
    action: "webhook",
    actor: { method: "webhook", delivery: name },
    concerns: spec.repositories?.[0] ?? "",
    objects: [],
    outcome: "refused",
  });
  return unstored("IdReused", "another webhook came under this delivery id before");
}
