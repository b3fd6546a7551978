import { type Condition, clipped, findCondition } from "../../crds/conditions.ts";
import { componentBuild } from "../../crds/environment/component-build.ts";
import {
  type EnvironmentStatus,
  type EphemeralEnvironment,
  shownCommit,
} from "../../crds/environment/ephemeral-environment.ts";
import { plannedEnd } from "../../crds/environment/lifetime.ts";
import { decidingPipeline } from "../../crds/environment/pipelines.ts";
import type { Component } from "../../crds/names.ts";
import type { Announced } from "../../crds/notifications/announced.schema.ts";
import { FACT_MAX_LENGTH } from "../../crds/notifications/notification.schema.ts";
import { type Facts, type MessageEvent, notificationName } from "../../crds/notifications/notification.ts";
import { present } from "../../crds/present.ts";
import { type Build, missingPlaceholder } from "../../crds/repository/image-tag.ts";
import { imageOf, type Repository, tagTemplateOf } from "../../crds/repository/repository.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Notifications } from "../ports/notifications.ts";
import type { RepositoryFinder } from "../ports/repositories.ts";
import { chatRecipients, type RecipientsContext, recipientsOf } from "./recipients.ts";
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
   * The announcements after this status is stored: changes without recipients need no messages.
   *
   * @returns `dueInMs`: time of the next `announce`; `undefined` when it needs another change
   */
  nextAnnouncement(environment: EphemeralEnvironment): {
    readonly announced: Announced | undefined;
    readonly dueInMs?: number;
  };
  /** Creates messages about an environment that is gone. */
  reportDeleted(environment: EphemeralEnvironment, reason: string): Promise<void>;
}

interface AnnouncerContext extends RecipientsContext {
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
      let pending = pendingMessages(stored, stored.status?.announced, context, now());
      while (pending.transition !== undefined) {
        for (const message of pending.messages) await context.notifications.add(message.name, message.spec);
        pending = pendingMessages(stored, pending.transition.announced, context, now());
      }
      return pending.announced;
    },
    nextAnnouncement(environment) {
      const { announced, transition } = pendingMessages(environment, environment.status?.announced, context, now());
      const dueInMs = transition === undefined ? nextWarningInMs(environment, now()) : 0;
      return { announced, ...present({ dueInMs }) };
    },
    async reportDeleted(environment, reason) {
      const transition = { event: "deleted", about: [environment.metadata.uid, "deleted"] } as const;
      const facts = environmentFacts(environment, "deleted", { reason });
      for (const { name, spec } of messagesOf(environment, transition, facts, context)) {
        await context.notifications.add(name, spec);
      }
    },
  };
}

/** Messages of the next unannounced change that has recipients, and the announcements before it. */
function pendingMessages(
  environment: EphemeralEnvironment,
  announced: Announced | undefined,
  context: AnnouncerContext,
  when: TransitionContext,
) {
  let known = announced;
  for (;;) {
    const transition = nextTransition(environment, known, when);
    if (transition === undefined) return { announced: known };
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
  const { hours } = event === "expiry" ? (announced.expiry ?? {}) : {};
  return environmentFacts(environment, event, hours === undefined ? {} : { hours: String(hours) });
}

function messagesOf(
  environment: EphemeralEnvironment,
  { event, about, component }: Omit<Transition, "announced">,
  facts: Facts,
  { settings, repositories, clock }: AnnouncerContext,
) {
  if (event === undefined) return [];
  const { name, uid } = environment.metadata;
  const repository = component && environment.spec[component]?.repository;
  return recipientsOf(environment, event, { settings, repositories, repository }).map((recipient) => ({
    name: notificationName(about, recipient),
    spec: { ...recipient, event, template: event, facts, at: clock.now().toISOString(), environment: { name, uid } },
  }));
}

/** Announcements of a reconcile. */
interface AnnouncementResult {
  readonly announced: Announced | undefined;
  /** Transient: retried with backoff, without stopping other work. */
  readonly error?: unknown;
}

/**
 * Announces stored changes: only those have the same words after a crash.
 *
 * @param latest the environment with the status of the last reconcile, stored or not
 */
export async function announceStored(
  stored: EphemeralEnvironment,
  latest: EphemeralEnvironment,
  announcer: Announcer | undefined,
): Promise<AnnouncementResult> {
  const announced = latest.status?.announced;
  if (announcer === undefined) return { announced };
  const known = stored.status && { ...stored, status: withAnnounced(stored.status, announced) };
  try {
    return { announced: await announcer.announce(known ?? stored) };
  } catch (error) {
    // Marks a creation whose message failed: its status will no longer show that it is new.
    const isNew = stored.status?.observedGeneration === undefined;
    const unannounced = { event: "unannounced", at: stored.metadata.creationTimestamp } as const;
    return { announced: announced ?? (isNew ? unannounced : undefined), error };
  }
}

/** The status with its next announcement; `announceInMs`: time until the one after. */
export function withNextAnnouncement(
  environment: EphemeralEnvironment,
  next: EnvironmentStatus,
  { announced, error, announcer }: AnnouncementResult & { readonly announcer: Announcer | undefined },
): { readonly status: EnvironmentStatus; readonly announceInMs?: number } {
  const status = withAnnounced(next, announced);
  if (announcer === undefined || error !== undefined) return { status };
  const { dueInMs, ...after } = announcer.nextAnnouncement({ ...environment, status });
  return present({ status: withAnnounced(status, after.announced), announceInMs: dueInMs });
}

function withAnnounced(status: EnvironmentStatus, announced: Announced | undefined): EnvironmentStatus {
  const { announced: _, ...others } = status;
  return announced === undefined ? others : { ...others, announced };
}

const SHORT_COMMIT = 8;

/** Facts of an environment for messages; never a secret value, because conditions hold none. */
export function environmentFacts(
  environment: EphemeralEnvironment,
  event: MessageEvent,
  more: Facts & { readonly reason?: string } = {},
): Facts {
  const { metadata, spec, status } = environment;
  const { repository, branch } = spec.backend;
  const commit = shownCommit(environment, "backend").slice(0, SHORT_COMMIT);
  const failure = event === "failed" ? findCondition(status?.conditions, "Ready") : undefined;
  return shownFacts({
    environment: metadata.name,
    event,
    status: event,
    repository,
    branch,
    commit,
    url: status?.url,
    backendUrl: status?.urls?.backend,
    frontendUrl: status?.urls?.frontend,
    hostUrls: hostUrls(status?.urls?.hosts),
    reason: failure?.reason,
    message: failure?.message,
    owner: spec.owner?.name,
    expiresAt: plannedEnd(environment).toISOString(),
    ...more,
  });
}

/** Only whole ones: a cut URL leads elsewhere. */
function hostUrls(hosts: { readonly [name: string]: string } = {}): string {
  return Object.entries(hosts).reduce((text, [name, url]) => {
    const longer = `${text === "" ? "" : `${text}, `}${name}: ${url}`;
    return longer.length > FACT_MAX_LENGTH ? text : longer;
  }, "");
}

/** Facts of an ended pipeline: project, commit, image, status, and the address of a failure. */
function pipelineFacts(environment: EphemeralEnvironment, component: Component, repositories: RepositoryFinder): Facts {
  const source = environment.spec[component];
  const pipeline = decidingPipeline(source?.pipelines ?? []);
  if (source === undefined || pipeline === undefined) return {};
  const { branch } = source;
  const repository = repositories.find(source.repository);
  const build = componentBuild(environment, component, { branch, commit: pipeline.commit });
  return environmentFacts(environment, "pipeline", {
    repository: source.repository,
    branch,
    project: pipeline.project,
    status: pipeline.status,
    commit: pipeline.commit.slice(0, SHORT_COMMIT),
    ...(repository === undefined ? {} : imageFact(repository, build)),
    ...(pipeline.status === "failed" && pipeline.url !== undefined ? { pipelineUrl: pipeline.url } : {}),
  });
}

function imageFact(repository: Repository, build: Build): Pick<Facts, "image"> {
  const isKnown = missingPlaceholder(tagTemplateOf(repository), build) === undefined;
  return isKnown ? { image: imageOf(repository, build) } : {};
}

/** Known, non-empty facts; longer text is cut. */
function shownFacts(facts: { readonly [name in keyof Facts]?: string | undefined }): Facts {
  const known = Object.entries(facts).filter(([, text]) => text !== undefined && text !== "");
  return Object.fromEntries(known.map(([name, text]) => [name, clipped(text ?? "", FACT_MAX_LENGTH)]));
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
