import {
  isEndOfPullRequest,
  isFinal,
  type WebhookDelivery,
  type WebhookDeliverySpec,
  type WebhookDeliveryStatus,
} from "../../crds/webhooks/webhook-delivery.ts";
import type { UnverifiedMessages } from "../announcements/unverified-message.ts";
import { bodyMemory } from "../kit/body-memory.ts";
import { equalJson } from "../kit/equal-json.ts";
import { createKeyedMutex } from "../kit/keyed-mutex.ts";
import type { Log } from "../kit/log.ts";
import { type Clock, pause } from "../kit/time/clock.ts";
import {
  InboxFull,
  type Outcome,
  type SimulatedWebhook,
  type Simulation,
  type VerifiedWebhook,
  type WebhookInbox,
  WebhookKeysMissing,
  WebhookMalformed,
  WebhookRefused,
  WebhookTooLarge,
} from "../ports/api/webhook-inbox.ts";
import type { Metrics, WebhookOutcome } from "../ports/metrics.ts";
import type { DeliveryClaim, WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import type { ReceivedWebhook } from "../ports/webhooks/webhook-format.ts";
import { type Decided, deliveryStatus } from "./decision.ts";
import { decideAll, isWriteDecision, type ProcessingContext, processDelivery, targetOf } from "./process.ts";
import { statesToRefetch } from "./pull-request/states.ts";
import { formatOf, verifySender, type WebhookSenderDependencies } from "./senders.ts";
import { approvalOf, dated, deliveryOf, type NewDelivery, outcomeOf, serialKey } from "./stored.ts";
import { unverifiedEvents } from "./unverified.ts";

/** Dependencies of the inbox. */
export interface InboxContext extends WebhookSenderDependencies, ProcessingContext {
  readonly deliveries: WebhookDeliveries;
  readonly clock: Clock;
  readonly log: Log;
  readonly unverifiedMessages: UnverifiedMessages;
}

/** Hosts wait ten seconds for an answer. */
const ANSWER_WITHIN_MS = 5_000;
/** Memory for all bodies that arrive, beyond 64 KiB of each. */
const BODIES_BYTES = 134_217_728;

const LATER: WebhookDeliveryStatus = deliveryStatus("pending", "Stored", "it is stored and will be decided");

/** No call leaves the process while a host waits for the answer. */
const STALE: WebhookDeliveryStatus = {
  phase: "pending",
  reason: "HostCheckPending",
  message: "what is known of the pull request may be stale: its host is read first",
};

export function createWebhookInbox(context: InboxContext): WebhookInbox {
  const { deliveries, settings, clock, log } = context;
  const mutex = createKeyedMutex();
  /** Decisions with an unstored outcome, by the delivery's name. */
  const underWay = new Map<string, Promise<WebhookDeliveryStatus>>();
  const bodies = bodyMemory(BODIES_BYTES);
  const unverified = unverifiedEvents(context);
  const claim = boundedClaims(deliveries, settings.webhooks.pending);

  async function store(delivery: WebhookDelivery, status: WebhookDeliveryStatus): Promise<void> {
    await deliveries
      .finish(delivery, dated(status, clock.now()))
      .catch((error: unknown) => log.warn("an outcome could not be stored: the operator decides anew", { error }));
  }

  /** Decides and acts serially; stores the outcome after the answer. Failures are left to the operator. */
  function begin(delivery: WebhookDelivery, alreadyKnown?: WebhookDeliveryStatus): Promise<WebhookDeliveryStatus> {
    const { name } = delivery.metadata;
    const deciding = mutex.run(serialKey(delivery), async () => {
      try {
        if (alreadyKnown !== undefined) return alreadyKnown;
        if (statesToRefetch(delivery, context.decisionContext).length > 0) return STALE;
        return await processDelivery(delivery, context, { atOnce: "one" });
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

  /** The outcome, or that it is still under way when the host would wait too long. */
  async function inTime(deciding: Promise<WebhookDeliveryStatus>): Promise<WebhookDeliveryStatus | "under way"> {
    const ended = new AbortController();
    const late = pause(clock, ANSWER_WITHIN_MS, ended.signal).then(() => "under way" as const);
    const status = await Promise.race([deciding, late]);
    ended.abort();
    return status;
  }

  async function answer(name: string, deciding: Promise<WebhookDeliveryStatus>): Promise<Outcome> {
    const status = await inTime(deciding);
    return outcomeOf(name, status === "under way" ? LATER : status);
  }

  /** Outcome of the earlier delivery; `undefined` when it is pending, or may act again. */
  async function former(made: NewDelivery, { metadata: { name }, ...delivery }: WebhookDelivery) {
    if (!isSameEvent(delivery.spec, made.spec)) return reused(made, context);
    const deciding = underWay.get(name);
    const status = delivery.status ?? (deciding && (await inTime(deciding)));
    if (status === "under way") return outcomeOf(name, LATER);
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
      const { state, delivery } = await claim(made);
      const before = state === "taken" ? await former(made, delivery) : undefined;
      return before ?? answer(made.name, begin(delivery, repeated(delivery, deliveries)));
    },
    simulate: (webhook) => simulate(webhook, context),
    redeliver: (delivery) => answer(delivery.metadata.name, begin(delivery)),
    async approve(approval) {
      const { delivery } = await claim(approvalOf(approval, clock.now()));
      return answer(delivery.metadata.name, begin(delivery));
    },
    note: unverified.note,
  };
}

/** Events answered and counted without storage, which decisive ones need. */
function unstorable({ event, repositories, reason = "no rule speaks of it" }: VerifiedWebhook): Outcome | undefined {
  if (event.type === "ping") return unstored("Ping", "the webhook arrives, and its signature fits");
  if (repositories.length === 0) return unstored("NoRepository", "the event is about no repository");
  return event.type === "other" ? unstored("NothingToDo", reason) : undefined;
}

const unstored = (reason: string, message: string): Outcome => ({
  state: "ignored",
  reason,
  message,
  environments: [],
  trace: [],
});

/**
 * Outcome of a pipeline report that another delivery has made: a second one could recreate an environment that a user
 * deleted. Pull requests need no such memory: their state decides.
 */
function repeated(
  { metadata, spec }: WebhookDelivery,
  deliveries: WebhookDeliveries,
): WebhookDeliveryStatus | undefined {
  if (spec.event.pipeline === undefined || spec.deduplicationKey === undefined) return undefined;
  const first = deliveries
    .byDeduplicationKey(spec.deduplicationKey)
    .find((one) => one.metadata.uid !== metadata.uid && isFinal(one));
  if (first === undefined) return undefined;
  return { phase: "ignored", reason: "Repeated", message: `delivery ${first.metadata.name} has reported the same` };
}

/**
 * GitHub gives one id to all hooks that get an event, and an app's hook and a repository's send different bodies for it.
 * https://github.com/github/docs/issues/32822
 */
const isSameEvent = (one: WebhookDeliverySpec, other: WebhookDeliverySpec) =>
  one.digest === other.digest || equalJson(one.event, other.event);

/** Hosts never use an id for two events; an attacker with the key may. */
async function reused({ name, spec }: NewDelivery, { audit, newId, log }: InboxContext): Promise<Outcome> {
  log.error("a webhook came under the id of another one: it was ignored", { delivery: name, ids: spec.deliveryId });
  await audit.add({
    auditId: newId(),
    event: "denial",
    action: "webhook",
    actor: { method: "webhook", delivery: name },
    target: spec.repositories?.[0] ?? "",
    objects: [],
    outcome: "refused",
  });
  return unstored("IdReused", "another webhook came under this delivery id before");
}

/** Counts the outcome of each of the inbox's webhooks. */
export function countedInbox(inbox: WebhookInbox, metrics: Metrics): WebhookInbox {
  const orFailure = <T>(source: ReceivedWebhook["source"], result: Promise<T>): Promise<T> =>
    result.catch((error: unknown) => {
      metrics.webhookEnded(source, failureOf(error));
      throw error;
    });
  return {
    ...inbox,
    verify: (arriving) => orFailure(arriving.source, inbox.verify(arriving)),
    async accept(webhook) {
      const { source } = webhook.received;
      const outcome = await orFailure(source, inbox.accept(webhook));
      metrics.webhookEnded(source, outcome.state);
      return outcome;
    },
  };
}

function failureOf(error: unknown): WebhookOutcome {
  if (error instanceof WebhookRefused || error instanceof WebhookTooLarge) return "refused";
  if (error instanceof WebhookMalformed) return "malformed";
  if (error instanceof WebhookKeysMissing) return "no_key";
  return error instanceof InboxFull ? "full" : "failed";
}

/** Decisions about an event, without storing, acting or asking a host. */
async function simulate(
  { repository, eventName, payload }: SimulatedWebhook,
  { formats, settings, decide, decisionContext, clock }: InboxContext,
): Promise<Simulation> {
  const format = formatOf(repository.spec, { settings, formats });
  const { event, reason } = format.read({ eventName, deliveryId: undefined }, payload, { now: clock.now() });
  if (event.type === "ping" || event.type === "other") {
    const message = reason ?? "no rule speaks of it";
    return { event, decisions: [{ do: "nothing", reason: "NothingToDo", message }], trace: [] };
  }
  const { host = "" } = repository.spec;
  const offline = { ...decisionContext, branchHeads: { headOf: async () => undefined } };
  const spec = { event, host, repositories: [repository.metadata.name] };
  const decided = await decideAll(spec, { decide, decisionContext: offline });
  return { event, decisions: decided.map(shown), trace: decided.flatMap(({ trace }) => trace) };
}

function shown({ decision }: Decided): Simulation["decisions"][number] {
  const { reason } = decision;
  if (isWriteDecision(decision)) return { do: decision.do, reason, environment: targetOf(decision) };
  if (decision.do === "report") return { do: "report", reason, message: decision.report.description };
  const { environment, message } = decision;
  return { do: decision.do, reason, message, ...(environment && { environment: environment.metadata.name }) };
}

/** Deliveries are decided within seconds, unless the API server is away. */
const FULL_RETRY_SECONDS = 10;
const SHARE = 0.1;

/**
 * Claims deliveries while at most `room` are undecided, a tenth of them per Repository. The end of a pull request is
 * always taken: no later event would end the wait of others about it. A claim throws InboxFull, ClusterUnavailable.
 */
function boundedClaims(deliveries: WebhookDeliveries, room: number) {
  const share = Math.ceil(room * SHARE);
  /** Unanswered claims, which may soon be undecided deliveries. */
  let claiming = 0;
  const claimingOf = new Map<string, number>();

  const isFullFor = (name: string) => deliveries.undecided(name).length + (claimingOf.get(name) ?? 0) >= share;
  const isFull = ({ spec }: NewDelivery) => {
    if (isEndOfPullRequest({ spec })) return false;
    return deliveries.undecided().length + claiming >= room || (spec.repositories ?? []).some(isFullFor);
  };
  const count = ({ spec: { repositories = [] } }: NewDelivery, by: 1 | -1) => {
    claiming += by;
    for (const name of new Set(repositories)) {
      const now = (claimingOf.get(name) ?? 0) + by;
      if (now === 0) claimingOf.delete(name);
      else claimingOf.set(name, now);
    }
  };

  return async (delivery: NewDelivery): Promise<DeliveryClaim> => {
    const { name, spec } = delivery;
    const known = deliveries.find(name);
    if (known !== undefined) return { state: "taken", delivery: known };
    if (isFull(delivery)) throw new InboxFull(FULL_RETRY_SECONDS);
    count(delivery, 1);
    try {
      return await deliveries.claim(name, spec);
    } finally {
      count(delivery, -1);
    }
  };
}
