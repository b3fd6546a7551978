import type { Settings } from "../../config/settings.ts";
import { type Condition, clipped } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Announced } from "../../crds/notifications/announced.schema.ts";
import { FACT_MAX_LENGTH } from "../../crds/notifications/notification.schema.ts";
import { type Facts, type NotificationSpec, notificationName } from "../../crds/notifications/notification.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Notifications } from "../ports/notifications.ts";
import type { Repositories } from "../ports/repositories.ts";
import { environmentFacts, pipelineFacts } from "./facts.ts";
import { chatRecipients, recipientsOf } from "./recipients.ts";
import { nextTransition, nextWarningInMs, type Transition, type TransitionContext } from "./transitions.ts";

/** Turns changes of environments into messages. */
export interface Announcer {
  /**
   * Creates messages about stored, unannounced changes. Their names identify the change, so that a crash repeats none.
   *
   * @returns the announcements, to be stored in the status
   */
  announce(stored: EphemeralEnvironment): Promise<Announced | undefined>;

  /**
   * Answers the announcements after this status is stored: changes without recipients need no messages.
   *
   * @returns `dueInMs`: time of the next `announce`; `undefined` when it needs another change
   */
  settle(environment: EphemeralEnvironment): { readonly announced: Announced | undefined; readonly dueInMs?: number };

  announceDeletion(environment: EphemeralEnvironment, reason: string): Promise<void>;
}

export interface AnnouncerContext {
  readonly settings: Settings;
  readonly repositories: Pick<Repositories, "find">;
  readonly notifications: Pick<Notifications, "add">;
  readonly clock: Clock;
}

/** Announcer by the settings; `undefined` without recipients. */
export function createAnnouncer(context: AnnouncerContext): Announcer | undefined {
  const { chat, email, expiryWarnings } = context.settings.notifications;
  if (chat.webhooks.length === 0 && email === undefined) return undefined;
  const warningHours = email === undefined ? [] : expiryWarnings.hours;
  const now = (): TransitionContext => ({ now: context.clock.now(), warningHours });
  return {
    async announce(stored) {
      let news = newsOf(stored, stored.status?.announced, context, now());
      while (news.transition !== undefined) {
        for (const message of news.messages) await context.notifications.add(message.name, message.spec);
        news = newsOf(stored, news.transition.announced, context, now());
      }
      return news.announced;
    },
    settle(environment) {
      const { announced, transition } = newsOf(environment, environment.status?.announced, context, now());
      const dueInMs = transition === undefined ? nextWarningInMs(environment, now()) : 0;
      return { announced, ...(dueInMs === undefined ? {} : { dueInMs }) };
    },
    async announceDeletion(environment, reason) {
      const transition = { event: "deleted", about: [environment.metadata.uid, "deleted"] } as const;
      const facts = environmentFacts(environment, "deleted", { reason });
      for (const { name, spec } of messagesOf(environment, transition, facts, context)) {
        await context.notifications.add(name, spec);
      }
    },
  };
}

interface Message {
  readonly name: string;
  readonly spec: NotificationSpec;
}

interface News {
  readonly announced: Announced | undefined;
  readonly transition?: Transition;
  readonly messages: readonly Message[];
}

function newsOf(
  environment: EphemeralEnvironment,
  announced: Announced | undefined,
  context: AnnouncerContext,
  when: TransitionContext,
): News {
  let known = announced;
  for (;;) {
    const transition = nextTransition(environment, known, when);
    if (transition === undefined) return { announced: known, messages: [] };
    const messages = messagesOf(environment, transition, factsOf(environment, transition, context), context);
    if (messages.length > 0) return { announced: known, transition, messages };
    known = transition.announced;
  }
}

function factsOf(
  environment: EphemeralEnvironment,
  { event, component, announced }: Transition,
  context: AnnouncerContext,
) {
  if (event === undefined) return {};
  if (component !== undefined) return pipelineFacts(environment, component, context.repositories);
  const { hours } = announced.expiry ?? {};
  return environmentFacts(
    environment,
    event,
    event === "expiry" && hours !== undefined ? { hours: String(hours) } : {},
  );
}

function messagesOf(
  environment: EphemeralEnvironment,
  { event, about, component }: Omit<Transition, "announced">,
  facts: Facts,
  { settings, repositories, clock }: AnnouncerContext,
): readonly Message[] {
  if (event === undefined) return [];
  const { name, uid } = environment.metadata;
  const repository = component && environment.spec[component]?.repository;
  return recipientsOf(environment, event, { settings, repositories, repository }).map((recipient) => ({
    name: notificationName(about, recipient),
    spec: { ...recipient, event, template: event, facts, at: clock.now().toISOString(), environment: { name, uid } },
  }));
}

/** Creates chat messages about a Repository's failing webhooks; see `createHookAlert`. */
export type HookAlert = (repository: Repository, now: Condition, former: Condition | undefined) => Promise<void>;

/** Names messages by the state that they end, so that repetitions create them once. */
export function createHookAlert(context: AnnouncerContext): HookAlert {
  return async ({ metadata }, { reason, message }, former) => {
    const about = [metadata.uid, "webhook", reason, former?.lastTransitionTime ?? "", former?.reason ?? ""];
    const facts = { event: "webhook", repository: metadata.name, reason, message: clipped(message, FACT_MAX_LENGTH) };
    for (const recipient of chatRecipients(undefined, [metadata.name], context)) {
      const at = context.clock.now().toISOString();
      const spec = { ...recipient, event: "webhook", template: "webhook", facts, at } as const;
      await context.notifications.add(notificationName(about, recipient), spec);
    }
  };
}
