import type { Settings } from "../../../config/settings.ts";
import { clipped } from "../../../crds/conditions.ts";
import { DAY_MS, HOUR_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { plannedEnd } from "../../../crds/environment/lifetime.ts";
import { FACT_MAX_LENGTH } from "../../../crds/notifications/notification.schema.ts";
import { destinationOf, type Notification, type NotificationStatus } from "../../../crds/notifications/notification.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import type { Log } from "../../kit/log.ts";
import { backoffMs } from "../../kit/time/backoff.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { EventRecorder } from "../../ports/event-recorder.ts";
import { MessageRefused, MessagingUnavailable, type Notifications } from "../../ports/notifications.ts";

/** An outage of a day costs about thirty attempts a channel. */
const RETRY_MS = { first: 10_000, longest: HOUR_MS };
/** Age at which an unsendable message is given up. */
const GIVE_UP_AFTER_MS = DAY_MS;
/** Longer than an attempt: until then no other process begins one. */
const CLAIMED_MS = 90_000;
/** Limit on dropped messages before the next one is sent. */
const MOST_DROPPED = 100;
/** Another replica has it, or the watch is behind. */
const RECHECK_MS = 1_000;

type Attempt =
  | { readonly result: "sent" }
  | { readonly result: "outdated" | "refused"; readonly message: string }
  | { readonly result: "unavailable"; readonly message: string; readonly retryAfterMs?: number | undefined };

/** The settings and ports of the delivery of notifications. */
export interface NotificationDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  /** Uniform in [0, 1): spreads periodic work. */
  readonly random: () => number;
  readonly events: EventRecorder;
  readonly notifications: Notifications;
  readonly environmentOf: (uid: string) => EphemeralEnvironment | undefined;
}

/** Sends one message; see `createSender`. */
type Send = (notification: Notification, signal: AbortSignal) => Promise<void>;

/**
 * Reconcile of a destination: sends its oldest waiting message. An unsendable one delays the later ones, because the
 * channel is at fault; beyond the limit the oldest of those are given up.
 *
 * An attempt is recorded first, on the version read: so one process sends a message, and it is repeated only after a
 * crash between sending and recording.
 */
export function deliverMessages(dependencies: NotificationDependencies, send: Send): Reconcile {
  const context: Delivering = { ...dependencies, send, ended: new Map<string, Ended>() };
  return async (destination, { signal }) => {
    const [next, ...behind] = [...context.notifications.pendingFor(destination)].sort(byAge);
    await dropSurplus(behind, context, signal);
    const ended = context.ended.get(destination);
    if (next !== undefined && ended !== undefined && isUnnoted(next, ended)) {
      await context.notifications.finish(next, ended.status);
      return { requeueAfterMs: RECHECK_MS };
    }
    context.ended.delete(destination);
    if (next === undefined) return;
    const waitMs = Date.parse(next.status?.nextAttemptAt ?? "") - context.clock.now().getTime();
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    return deliver(next, context, signal);
  };
}

/** Gives up the oldest excess messages behind the current one. */
async function dropSurplus(
  behind: readonly Notification[],
  { settings, notifications, events, log }: NotificationDependencies,
  signal: AbortSignal,
): Promise<void> {
  const { pendingPerDestination: most } = settings.notifications;
  const surplus = behind.slice(0, Math.max(0, behind.length + 1 - most)).slice(0, MOST_DROPPED);
  const [first] = surplus;
  if (first === undefined) return;
  const message = `more than ${most} messages wait for the destination`;
  for (const { status, ...notification } of surplus) {
    signal.throwIfAborted();
    await notifications.finish(notification, { phase: "failed", attempts: status?.attempts ?? 0, message });
  }
  const sentence = `Notifications to ${addressee(first)} were given up: ${message}`;
  events.publish({ type: "Warning", reason: "NotificationsDropped", action: "Notify", message: sentence });
  log.error("notifications were given up: too many wait for a destination", { dropped: surplus.length, most });
}

/** Hides the address: Events have more readers than messages. */
const addressee = ({ spec }: Pick<Notification, "spec">) =>
  spec.channel === "chat" ? `channel '${spec.to}'` : "its owner";

/** The API server's own timestamps have seconds only. */
const byAge = ({ spec: one }: Notification, { spec: other }: Notification) => Date.parse(one.at) - Date.parse(other.at);

interface Ended {
  /** UID of the message. */
  readonly uid: string;
  readonly status: NotificationStatus;
}

/** State that the reconciles share. */
interface Delivering extends NotificationDependencies {
  readonly send: Send;
  /** End of the last attempt of each destination, until the message shows it, so that nothing is sent twice. */
  readonly ended: Map<string, Ended>;
}

/** True when the end of its attempt is not stored, whatever the API server answered. */
function isUnnoted({ metadata, status }: Notification, ended: Ended): boolean {
  const isShown = status?.phase === ended.status.phase && status.nextAttemptAt === ended.status.nextAttemptAt;
  return metadata.uid === ended.uid && !isShown;
}

async function deliver(notification: Notification, context: Delivering, signal: AbortSignal): Promise<ReconcileResult> {
  const { notifications } = context;
  const attempts = (notification.status?.attempts ?? 0) + 1;
  const nextAttemptAt = later(attempts, context, CLAIMED_MS);
  const claim = { ...notification.status, phase: "pending", attempts, nextAttemptAt } as const;
  const claimed = await notifications.claim(notification, claim);
  if (claimed === undefined) return { requeueAfterMs: RECHECK_MS };
  const attempt = await attempted(claimed, context, signal);
  const status = statusAfter(claimed, attempt, context);
  context.ended.set(destinationOf(claimed), { uid: claimed.metadata.uid, status });
  signal.throwIfAborted();
  if (status.phase === "failed" && attempt.result !== "outdated") reportDeadLetter(claimed, status, context);
  await notifications.finish(claimed, status);
  return { requeueAfterMs: 0 };
}

async function attempted(notification: Notification, context: Delivering, signal: AbortSignal): Promise<Attempt> {
  const message = outdated(notification, context);
  if (message !== undefined) return { result: "outdated", message };
  try {
    await context.send(notification, signal);
    return { result: "sent" };
  } catch (error) {
    if (error instanceof MessageRefused) return { result: "refused", message: error.message };
    if (error instanceof MessagingUnavailable) {
      return { result: "unavailable", message: error.message, retryAfterMs: error.retryAfterMs };
    }
    signal.throwIfAborted();
    context.log.error("unexpected error while a notification was sent", { name: notification.metadata.name, error });
    return { result: "unavailable", message: "an unexpected error, see the operator's log" };
  }
}

/** A warning is about one expiry: after it, after an extension, and while it is protected, it would be wrong. */
function outdated({ spec }: Notification, { environmentOf, clock }: NotificationDependencies): string | undefined {
  if (spec.event !== "expiry" || spec.facts.expiresAt === undefined) return undefined;
  const environment = environmentOf(spec.environment?.uid ?? "");
  const isSame =
    environment?.status?.expiresAt !== undefined && plannedEnd(environment).toISOString() === spec.facts.expiresAt;
  const isAlive = environment !== undefined && environment.metadata.deletionTimestamp === undefined;
  const mayExpire = environment?.spec.protected !== true;
  const isAhead = Date.parse(spec.facts.expiresAt) > clock.now().getTime();
  return isSame && isAlive && mayExpire && isAhead
    ? undefined
    : "the environment does not expire then any more, or has expired";
}

function statusAfter(
  { metadata, status }: Notification,
  attempt: Attempt,
  context: NotificationDependencies,
): NotificationStatus {
  const attempts = status?.attempts ?? 1;
  const now = context.clock.now();
  if (attempt.result === "sent") return { phase: "sent", attempts, sentAt: now.toISOString() };
  const message = clipped(attempt.message, FACT_MAX_LENGTH);
  const isTooOld = now.getTime() - Date.parse(metadata.creationTimestamp) >= GIVE_UP_AFTER_MS;
  if (attempt.result !== "unavailable" || isTooOld) return { phase: "failed", attempts, message };
  return { phase: "pending", attempts, message, nextAttemptAt: later(attempts, context, attempt.retryAfterMs) };
}

/** The moment of the next attempt: the growing delay, and at least what the other side asks for. */
function later(attempts: number, { clock, random }: NotificationDependencies, atLeastMs = 0): string {
  const delayMs = backoffMs(attempts, RETRY_MS) * (0.8 + 0.4 * random());
  return new Date(clock.now().getTime() + Math.max(delayMs, atLeastMs)).toISOString();
}

function reportDeadLetter(
  { metadata, spec }: Notification,
  { message = "", attempts }: NotificationStatus,
  { notifications, events, log }: NotificationDependencies,
): void {
  const environment = spec.environment?.name ?? "";
  const to = addressee({ spec });
  const sentence = `Notification ${metadata.name} (${spec.event} of environment '${environment}') to ${to} was given up after ${attempts} attempts: ${message}`;
  events.publish({ type: "Warning", reason: "NotificationFailed", action: "Notify", message: sentence });
  const deadLetters = notifications.list().filter(({ status }) => status?.phase === "failed").length;
  log.error("a notification was given up", { notification: metadata.name, environment, attempts, deadLetters });
}
