import pLimit from "p-limit";
import { digestOf } from "../../../crds/digest.ts";
import { HOUR_MS, MINUTE_MS } from "../../../crds/durations.ts";
import { environmentKind } from "../../../crds/environment/ephemeral-environment.ts";
import { API_VERSION, FIELD_MANAGER } from "../../../crds/group.ts";
import { insteadOf, isAlreadyExists, isNotFound, KubeError } from "../../kit/client/errors.ts";
import { eventKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Log } from "../../kit/log.ts";
import { type Clock, systemClock } from "../../kit/time/clock.ts";
import { reportLimit, type TokenBucket, tokenBucket } from "../../kit/time/rate-limits.ts";
import type { Owner } from "../../ports/cluster.ts";
import type { Event, EventRecorder } from "../../ports/event-recorder.ts";

interface EventSource {
  readonly client: KubeClient;
  /** The platform's own. */
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Name of this process, such as that of its pod. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Events share the reconciles' client, so they take few of its connections. */
const AT_ONCE = 8;
/** One per environment may wait in a burst, up to a platform's intended size; more are dropped. */
const MOST_WAITING = 10_000;
/** https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/ */
const NOTE_MAX_BYTES = 1024;
const NAMESPACE_OF_CLUSTER_SCOPED = "default";

/** EventRecorder port: Events of `events.k8s.io/v1`. */
export function kubernetesEventRecorder(source: EventSource): EventRecorder {
  const { clock, log } = source;
  const occurrences = createOccurrences(clock);
  const inTurn = pLimit(AT_ONCE);
  const dropping = reportLimit(clock);
  // The API server's load is in real time, whatever the clock of the events.
  const inBurst = burstEnd(systemClock);
  let waiting = 0;

  const write = (event: Event, occurrence: Occurrence, environment: Owner | undefined) =>
    store(event, occurrence, { ...source, environment }).catch((error: unknown) => {
      // Aborted: the leader's term or the process has ended.
      if (error instanceof KubeError && error.reason === "Aborted") return;
      log.warn("an event could not be written", { ...event, error });
    });
  return {
    publish(event, environment) {
      const content = [event.reason, event.message].join("\n");
      const { occurrence, isDue } = occurrences.note(environment?.uid ?? "", content, environment !== undefined);
      if (!isDue) return;
      if (waiting >= MOST_WAITING) {
        if (dropping.isDue()) log.warn("events are dropped: too many wait to be written", { waiting: MOST_WAITING });
        return;
      }
      waiting += 1;
      // A reconcile has just written for the environment, and in a burst of creations the next one does: they go first.
      const mayBegin = environment === undefined ? undefined : inBurst();
      const inItsTurn = () => {
        waiting -= 1;
        return write(event, occurrence, environment);
      };
      occurrence.sent = occurrence.sent.then(() => mayBegin).then(() => inTurn(inItsTurn));
    },
  };
}

type SubjectSource = EventSource & { readonly environment: Owner | undefined };

async function store(event: Event, occurrence: Occurrence, source: SubjectSource): Promise<void> {
  const { count, stored, isOthers } = occurrence;
  if (isOthers || stored === count) return;
  const object = eventObject(event, occurrence, source);
  if (stored === 0) {
    const made = source.client.create(eventKind, object);
    occurrence.isOthers = (await made.catch(insteadOf(isAlreadyExists, "others"))) === "others";
    occurrence.stored = count;
    return;
  }
  const counted = source.client.patch(eventKind, object.metadata, { series: object.series }, { as: "merge" });
  // An Event that the API server dropped is created again.
  occurrence.stored = (await counted.catch(insteadOf(isNotFound, "gone"))) === "gone" ? 0 : count;
}

function eventObject(event: Event, { firstAt, lastAt, count }: Occurrence, source: SubjectSource) {
  const { environment, serviceAccount, instance } = source;
  const { type, reason, action, message } = event;
  const namespace = environment === undefined ? source.namespace : NAMESPACE_OF_CLUSTER_SCOPED;
  const [name, id] =
    environment === undefined ? [serviceAccount, contentId(event, firstAt)] : [environment.name, firstAt.toString(16)];
  return {
    metadata: { name: `${name}.${id}`, namespace },
    regarding:
      environment === undefined
        ? { apiVersion: "v1", kind: "ServiceAccount", name, namespace }
        : { apiVersion: API_VERSION, kind: environmentKind.kind, name, uid: environment.uid },
    type,
    reason,
    action,
    note: fitting(message),
    eventTime: microTime(firstAt),
    ...(count > 1 ? { series: { count, lastObservedTime: microTime(lastAt) } } : {}),
    reportingController: FIELD_MANAGER,
    reportingInstance: instance,
  };
}

/**
 * Events about the platform are named by content and hour: several processes find the same. Events about an environment
 * come from one process and are named by time, because kubectl describe sorts by name.
 */
function contentId({ reason, message }: Event, firstAt: number): string {
  const hour = Math.floor(firstAt / 1000 / HOUR_MS);
  return digestOf([reason, message, hour], 16);
}

/** The API server requires six digits. */
function microTime(micros: number): string {
  const digits = String(micros % 1000).padStart(3, "0");
  return new Date(Math.floor(micros / 1000)).toISOString().replace("Z", `${digits}Z`);
}

function fitting(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= NOTE_MAX_BYTES) return note;
  const cut = bytes.subarray(0, NOTE_MAX_BYTES - Buffer.byteLength("…")).toString("utf8");
  return `${cut.replace(/\uFFFD+$/, "")}…`;
}

/** Silence that ends a burst: parallel creations go in waves, with seconds between their Events. */
const QUIET_MS = 5_000;
/**
 * Makes five Events a second. A write alone costs more than twice the processor time of one of eight, because the event loop
 * wakes for each.
 */
const [BATCH, EVERY_MS] = [8, 1_600];
/** Batches that even a long queue takes at most: in four and a half minutes, so that with delays none waits longer than five. */
const MOST_BATCHES = Math.floor((4.5 * MINUTE_MS) / EVERY_MS);

/**
 * Debounces low-priority work: delays it until the end of a burst of other work. Call the answered function with each piece: its
 * promise resolves after five seconds without another. During the burst eight resolve together every 1.6 s, and of a long
 * queue as many as let none wait longer than five minutes, longest waiting first.
 */
export function burstEnd(clock: Clock): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let lastMs = 0;
  /** Length of the queue at its longest since it was empty. */
  let longest = 0;

  async function letGo(): Promise<void> {
    let nextMs = clock.monotonicMs() + EVERY_MS;
    while (waiting.length > 0) {
      const nowMs = clock.monotonicMs();
      const restMs = Math.min(lastMs + QUIET_MS, nextMs) - nowMs;
      if (restMs > 0) await new Promise<void>((resolve) => clock.setTimer(restMs, resolve));
      else {
        const batch = Math.max(BATCH, Math.ceil(longest / MOST_BATCHES));
        goOn(lastMs + QUIET_MS <= nowMs ? waiting.length : batch);
        nextMs = nowMs + EVERY_MS;
      }
    }
    longest = 0;
  }

  function goOn(count: number): void {
    for (const begin of waiting.splice(0, count)) begin();
  }

  return () => {
    lastMs = clock.monotonicMs();
    const { promise, resolve } = Promise.withResolvers<void>();
    const length = waiting.push(resolve);
    longest = Math.max(longest, length);
    if (length === 1) void letGo();
    return promise;
  };
}

/** Equal events about one object within an hour: one Event, with a series after the first. */
interface Occurrence {
  /** Microseconds since 1970. */
  readonly firstAt: number;
  lastAt: number;
  count: number;
  /** Stored count; 0 before the Event exists. */
  stored: number;
  /** True when another process created the Event and counts. */
  isOthers: boolean;
  /** Resolves when all sent writes are answered. */
  sent: Promise<void>;
}

/** Event budget of an object: at once, and then per second. */
const [BURST, PER_SECOND] = [20, 1 / 60];

interface Subject {
  readonly budget: TokenBucket;
  readonly occurrences: Map<string, Occurrence>;
  usedAtMs: number;
}

/** Remembers the events of the last hour by object. */
export function createOccurrences(clock: Clock) {
  /** Subjects by object, longest unused first. */
  const subjects = new Map<string, Subject>();
  const moment = moments(clock);

  /** Counts of an object; after an hour without events it has its whole budget again, and nothing to continue. */
  const subjectOf = (about: string): Subject => {
    const usedAtMs = clock.monotonicMs();
    for (const [key, { usedAtMs: at }] of subjects) {
      if (usedAtMs - at < HOUR_MS) break;
      subjects.delete(key);
    }
    const budget = () => tokenBucket(clock, PER_SECOND, BURST / PER_SECOND);
    const subject = subjects.get(about) ?? { budget: budget(), occurrences: new Map(), usedAtMs };
    subjects.delete(about);
    subjects.set(about, subject);
    subject.usedAtMs = usedAtMs;
    return subject;
  };

  return {
    /** Counts an event; `isDue` when it may be written now. Only a limited object has a budget. */
    note(about: string, content: string, isLimited: boolean) {
      const { budget, occurrences } = subjectOf(about);
      const at = moment();
      for (const [key, { firstAt }] of occurrences) {
        if (Math.abs(at - firstAt) < HOUR_MS * 1000) break;
        occurrences.delete(key);
      }
      const occurrence = occurrences.get(content) ?? {
        firstAt: at,
        lastAt: at,
        count: 0,
        stored: 0,
        isOthers: false,
        sent: Promise.resolve(),
      };
      occurrences.set(content, occurrence);
      occurrence.lastAt = at;
      occurrence.count += 1;
      return { occurrence, isDue: !isLimited || budget.take() };
    },
    get size() {
      return subjects.size;
    },
  };
}

/** Moments within a millisecond ascend, so that events keep their order. */
function moments(clock: Clock): () => number {
  let [latestMs, serial] = [0, 0];
  return () => {
    const nowMs = clock.now().getTime();
    serial = nowMs === latestMs ? Math.min(serial + 1, 999) : 0;
    latestMs = nowMs;
    return nowMs * 1000 + serial;
  };
}
