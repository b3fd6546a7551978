import { type Condition, findCondition } from "../../../../crds/conditions.ts";
import type { EnvironmentRecord } from "../../../../crds/environment/environment-record.ts";
import type { Notification } from "../../../../crds/notifications/notification.ts";
import { isFinal, type WebhookDelivery } from "../../../../crds/webhooks/webhook-delivery.ts";
import {
  notificationType,
  recordType,
  repositoryType,
  webhookDeliveryType,
} from "../../../../operator/adapters/kubernetes/kinds.ts";
import { createObjectCache } from "../../../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../../../operator/kit/cache/reflector.ts";
import type { KubeClient } from "../../../../operator/kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../../../../operator/kit/client/objects.ts";
import { silentLog } from "../../fixtures/silent-log.ts";
import type { Course } from "../fault-field.ts";
import { losesMessage } from "../fault-plans.ts";
import type { FaultWorld } from "../fault-world.ts";
import type { InvariantId, Violation } from "../world-observer.ts";
import { repositoryOf } from "./audience.ts";

/** The platform's current deliveries, messages, records and hooks. */
export interface Outbox {
  deliveriesOf(environment: string): readonly WebhookDelivery[];
  messagesOf(environment: string): readonly Notification[];
  recordsOf(environment: string): readonly EnvironmentRecord[];
  hookOf(environment: string): Condition | undefined;
  stop(): Promise<void>;
}

/** Watches deliveries, messages, records and Repositories, as an administrator. */
export async function watchOutbox(admin: KubeClient): Promise<Outbox> {
  const deliveries = watched(admin, webhookDeliveryType);
  const messages = watched(admin, notificationType);
  const records = watched(admin, recordType);
  const repositories = watched(admin, repositoryType);
  const all = [deliveries, messages, records, repositories];
  await Promise.all(all.map(({ cache }) => cache.whenSynced(AbortSignal.timeout(20_000))));
  return {
    deliveriesOf: (environment) =>
      deliveries.cache.list().filter(({ spec }) => spec.repositories?.includes(repositoryOf(environment))),
    messagesOf: (environment) => messages.cache.list().filter((one) => isAbout(one, environment)),
    recordsOf: (environment) => records.cache.list().filter(({ spec }) => spec.name === environment),
    hookOf: (environment) => {
      const found = repositories.cache.list().find(({ metadata }) => metadata.name === repositoryOf(environment));
      return findCondition(found?.status?.conditions, "WebhookActive");
    },
    stop: async () => void (await Promise.all(all.map(({ reflector }) => reflector.stop()))),
  };
}

/** A message about a hook names its Repository alone. */
function isAbout({ spec: { environment, facts } }: Notification, name: string): boolean {
  return environment === undefined ? facts.repository === repositoryOf(name) : environment.name === name;
}

function watched<T extends KubeObject>(client: KubeClient, type: ResourceType<T>) {
  const cache = createObjectCache<T>();
  const reflector = createReflector({ client, type, cache, log: silentLog });
  reflector.start();
  return { cache, reflector };
}

const WORDS = {
  created: "is being created",
  ready: "is ready",
  updated: "is updated",
  deleted: "is deleted",
  webhook: "may not arrive",
} as const;
type ChatEvent = keyof typeof WORDS;

/** Judges reports and leftovers. */
export interface Reports {
  /** Violations of a living environment: its host shows its state, and the chat received these events. */
  ofLiving(environment: string, events: readonly ChatEvent[]): readonly Violation[];
  /** Violations of a living environment: its status has the report to its host, and the comment's id. */
  ofStored(environment: string): readonly Violation[];
  /** Violations of a deleted environment: its host shows it and keeps nothing, and one record remains. */
  ofGone(environment: string, events: readonly ChatEvent[]): readonly Violation[];
  /** Violations of an environment whose owner is due a warning. */
  byMail(environment: string): readonly Violation[];
  /** Violations of the hook of an environment's repository: its host sends by it alone, and the platform knows that. */
  ofHook(environment: string): readonly Violation[];
}

type Plan = Course["plan"];
/** A sentence about a violation; `false` without one. */
type Finding = readonly [InvariantId, false | string];

export function reportsOf({ observer, audience, field }: FaultWorld, outbox: Outbox): Reports {
  const violations = (environment: string, findings: readonly Finding[]): Violation[] =>
    findings.flatMap(([invariant, what]) => (what === false ? [] : [{ invariant, environment, what }]));

  /** Dead letters of the plan with a refused message: it is given up, and not retried. */
  const deadLetters = (name: string) =>
    losesMessage(field.of(name).plan) ? outbox.messagesOf(name).filter(({ status }) => status?.phase === "failed") : [];

  /** I11: acknowledged deliveries have an outcome, and announced messages were sent. */
  const settled = (name: string): Finding[] => {
    const open = outbox.deliveriesOf(name).filter((one) => !isFinal(one));
    const { plan } = field.of(name);
    const dead = deadLetters(name);
    const unsent = outbox.messagesOf(name).filter((one) => one.status?.phase !== "sent" && !dead.includes(one));
    const isGivenUp = dead.length === 1 && dead[0]?.status?.attempts === 1;
    return [
      ["I9", losesMessage(plan) && !isGivenUp && `given up are ${JSON.stringify(dead.map(({ status }) => status))}`],
      ["I11", open.length > 0 && `without an outcome are ${JSON.stringify(open.map(({ status }) => status))}`],
      ["I11", unsent.length > 0 && `not sent are ${JSON.stringify(unsent.map(({ spec }) => spec.event))}`],
    ];
  };

  /** I11: without the stored id, each change of the comment requires a search among all comments. */
  const stored = (name: string): Finding[] => {
    const { spec, status: { feedback = {} } = {} } = observer.environment(name) ?? {};
    const { status, comment, problem } = feedback;
    const [id] = audience.hostOf(name).comments.keys();
    const isReady = status?.state === "success" && status.commit === spec?.backend.commit;
    const isStored = isReady && comment?.id === id && problem === undefined;
    return [["I11", !isStored && `its comment is ${id}, its status says ${JSON.stringify(feedback)}`]];
  };

  /** I11: without a stored announcement, each reconcile creates the messages again. */
  const announced = (name: string): Finding[] => {
    const { status } = observer.environment(name) ?? {};
    const ready = findCondition(status?.conditions, "Ready");
    const { at, serving } = status?.announced ?? {};
    const isStored = at === ready?.lastTransitionTime && serving === status?.servingHash;
    const what = `it serves ${status?.servingHash} since ${ready?.lastTransitionTime}, announced is ${serving} since ${at}`;
    return [["I11", !isStored && what]];
  };

  /** I10: each message at least once, and twice only where its arrival could not be known. */
  const heard = (name: string, texts: readonly string[]): Finding[] => {
    const most = mayRepeat(field.of(name).plan) ? 2 : 1;
    const counts = [...Map.groupBy(texts, (text) => text)].filter(([, all]) => all.length > most);
    return [
      ["I10", counts.length > 0 && `reported ${counts.map(([text, all]) => `${all.length} times: ${text}`).join()}`],
    ];
  };
  const chatted = (name: string, events: readonly ChatEvent[]): Finding[] => {
    const texts = audience.posted(name);
    const dead = deadLetters(name).map(({ spec }) => spec.event);
    const isDue = (event: ChatEvent) =>
      !dead.includes(event) && !(event === "deleted" && isNeverMade(field.of(name).plan));
    const missing = events.filter((event) => isDue(event) && !texts.some((text) => text.includes(WORDS[event])));
    return [["I11", missing.length > 0 && `its chat never heard ${missing.join()}`], ...heard(name, texts)];
  };

  return {
    ofLiving(name, events) {
      const commit = observer.environment(name)?.spec.backend.commit ?? "";
      const { reports, comments, deployments } = audience.hostOf(name);
      const [last, deployed, [comment = ""]] = [reports.at(-1), deployments.get(name), [...comments.values()]];
      const isTrue = (report: typeof last | typeof deployed) => report?.state === "success" && report.commit === commit;
      return violations(name, [
        ["I11", !isTrue(last) && `the status of its commit is ${JSON.stringify(last)}`],
        ["I11", !isTrue(deployed) && `its deployment is ${JSON.stringify(deployed)}`],
        ["I11", !(comment.includes("is ready") && comment.includes(commit)) && `its comment is '${comment}'`],
        ["I10", comments.size > 1 && `it has ${comments.size} comments`],
        ["I2", outbox.recordsOf(name).length > 0 && "another environment of its name lived before"],
        ...stored(name),
        ...announced(name),
        ...settled(name),
        ...chatted(name, events),
      ]);
    },
    ofStored: (name) => violations(name, stored(name)),
    ofGone(name, events) {
      const { reports, comments, deployments } = audience.hostOf(name);
      const [comment = ""] = [...comments.values()];
      const isReported = reports.at(-1)?.description === "The environment is gone";
      return violations(name, [
        ["I11", !isReported && `the status of its commit is ${JSON.stringify(reports.at(-1))}`],
        ["I11", !comment.includes("is gone") && `its comment is '${comment}'`],
        ["I3", deployments.size > 0 && "its deployment is left"],
        ["I10", comments.size > 1 && `it has ${comments.size} comments`],
        ["I2", outbox.recordsOf(name).length !== 1 && `it has ${outbox.recordsOf(name).length} records`],
        ...settled(name),
        ...chatted(name, events),
      ]);
    },
    byMail(name) {
      const subjects = audience.mailed(name);
      const isWarned = deadLetters(name).length > 0 || subjects.some((subject) => subject.includes("expires at"));
      const { hours } = observer.environment(name)?.status?.announced?.expiry ?? {};
      return violations(name, [
        ["I11", !isWarned && "its owner was not warned"],
        ["I11", hours === undefined && "its status does not say that its owner was warned"],
        ...settled(name),
        ...heard(name, subjects),
      ]);
    },
    ofHook(name) {
      const states = audience.hostOf(name).hooks.map(({ state }) => state);
      const { status, reason } = outbox.hookOf(name) ?? {};
      return violations(name, [
        ["I11", states.join() !== "active" && `its host has hooks that are '${states.join()}'`],
        ["I11", status !== "True" && `its hook is known as ${status} ${reason}`],
      ]);
    },
  };
}

/** A message about a deletion that can't be created does not block the deletion. */
function isNeverMade(plan: Plan): boolean {
  return plan?.target === "create Notification chat deleted" && /^40[34] /.test(plan.fault.name);
}

/** True when the process can't know that a message has arrived: its answer, or the process itself, was lost. */
function mayRepeat(plan: Plan): boolean {
  if (plan === undefined) return false;
  const { target, fault } = plan;
  if (/^call (chat|mail)\./.test(target)) return fault.kills === "after" || fault.name === "answer lost";
  return fault.kills !== undefined && /^patch Notification\/status .*, sent$/.test(target);
}
