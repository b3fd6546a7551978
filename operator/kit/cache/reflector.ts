import { KubeError } from "../client/errors.ts";
import type { KubeClient, WatchEvent } from "../client/kube-client.ts";
import { isOfType, type KubeObject, type ResourceType } from "../client/objects.ts";
import { errorOfEvent } from "../client/responses.ts";
import type { Log } from "../log.ts";
import { Backoff } from "../time/backoff.ts";
import { type Clock, pause, systemClock } from "../time/clock.ts";
import { listWatch } from "./list-watch.ts";
import type { CacheFeed, ObjectCache } from "./object-cache.ts";
import {
  afterWatch,
  historyAfter,
  type NextMove,
  noHistory,
  type RelistReason,
  type WatchOutcome,
  WatchSession,
} from "./watch-session.ts";

/** State of a reflector, for readiness and metrics. Times are on the clock's monotonic scale. */
export interface ReflectorStatus {
  /** Time of the last page or bytes (bookmarks included); undefined before the first. */
  readonly lastProgressAt: number | undefined;
  /** Start of the last list or watch, failed ones included: longer ago than a minute only during a long list. */
  readonly lastBegunAt: number | undefined;
}

/** Keeps a cache equal to a collection: lists once, then watches, and survives every connection failure. */
export interface Reflector {
  start(): void;
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>;
  status(): ReflectorStatus;
}

interface ReflectorOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType<T>;
  readonly cache: ObjectCache<T> & CacheFeed<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Skips the decoding of `managedFields`, for a cache whose transform drops them (default false). */
  readonly withoutManagedFields?: boolean;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export function createReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector {
  return new CollectionReflector(options);
}

const MINUTE_MS = 60_000;
/**
 * Bounds of the random time after which the server ends a watch. It sends a bookmark just before, so the next watch
 * continues there. Only a missing end shows a half-open connection: these times, the grace and the check every 5 s
 * detect one within a minute.
 */
const WATCH_SECONDS = { least: 30, most: 50 };
const END_GRACE_MS = 5_000;
const KNOWN_EVENTS: ReadonlySet<string> = new Set(["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]);

class CollectionReflector<T extends KubeObject> implements Reflector {
  readonly #options: ReflectorOptions<T>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: Log;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #resourceVersion = "";
  #relistDueMs = 0;
  #lastProgressAt: number | undefined;
  #lastBegunAt: number | undefined;
  #history = noHistory;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#log = options.log.with({ reflector: options.type.plural });
    this.#backoff = new Backoff(this.#clock, this.#random);
  }

  start(): void {
    if (this.#running !== undefined) throw new TypeError("a reflector starts once");
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  status(): ReflectorStatus {
    return { lastProgressAt: this.#lastProgressAt, lastBegunAt: this.#lastBegunAt };
  }

  async #run(): Promise<void> {
    let next: NextMove = { relist: "start" };
    while (!this.#stop.signal.aborted) {
      this.#lastBegunAt = this.#clock.monotonicMs();
      if (next.relist !== undefined) next = await this.#list(next.relist);
      else next = this.#decide(await this.#watch());
      if (next.pauseSeconds !== undefined) await this.#pause(next.pauseSeconds);
    }
  }

  /** Lists; a failed list is retried for the same reason. One of the safety net is left to a later end of a watch. */
  async #list(reason: RelistReason): Promise<NextMove> {
    const { client, cache, type } = this.#options;
    this.#log.info("a list begins", { reason });
    const mark = cache.beginList();
    try {
      const collection = await listWatch(client, type, {
        ...this.#selection(),
        clock: this.#clock,
        signal: this.#stop.signal,
        isUsable: (event) => this.#isUsable(event),
        keep: (object) => cache.trimmed(object),
        onProgress: () => this.#progressed(),
        onFallback: (error) => this.#log.info("a list is asked for in pages", { error }),
      });
      await cache.replace(collection, mark);
      this.#resourceVersion = collection.resourceVersion;
      this.#relistDueMs = this.#clock.monotonicMs() + 30 * MINUTE_MS * (1 + this.#random());
      this.#history = noHistory;
      this.#progressed();
      return {};
    } catch (error) {
      if (this.#stop.signal.aborted) return {};
      this.#failed("a list failed", error);
      const pauseSeconds = (error instanceof KubeError && error.retryAfterSeconds) || 0;
      if (reason !== "routine") return { relist: reason, pauseSeconds };
      this.#relistDueMs = this.#clock.monotonicMs() + Math.max(pauseSeconds * 1_000, MINUTE_MS);
      return {};
    }
  }

  async #watch(): Promise<WatchOutcome> {
    const { client, cache, type } = this.#options;
    const { least, most } = WATCH_SECONDS;
    const timeoutSeconds = least + Math.floor((most - least) * this.#random());
    const session = new WatchSession({
      clock: this.#clock,
      deadlineMs: timeoutSeconds * 1000 + END_GRACE_MS,
      unconfirmedMs: () => cache.oldestUnconfirmedMs(),
      stop: this.#stop.signal,
    });
    const onBytes = () => this.#progressed();
    const start = { resourceVersion: this.#resourceVersion, timeoutSeconds, signal: session.signal, onBytes };
    let events = 0;
    try {
      for await (const event of client.watch(type, { ...this.#selection(), ...start })) {
        this.#take(event);
        events += 1;
      }
      return { cut: session.cut, events, ageMs: session.ageMs, endedAtMs: this.#clock.monotonicMs() };
    } catch (error) {
      return { error, events, ageMs: session.ageMs, endedAtMs: this.#clock.monotonicMs() };
    } finally {
      session.release();
    }
  }

  #take(event: WatchEvent<T>): void {
    if (!this.#isUsable(event)) return;
    const { type, object } = event;
    if (type === "DELETED") this.#options.cache.remove(object);
    else if (type !== "BOOKMARK") this.#options.cache.upsert(object);
    // Set last, so that an event that failed is requested again.
    this.#resourceVersion = object.metadata.resourceVersion;
  }

  /** @throws KubeError for an ERROR event: it ends the watch */
  #isUsable({ type, object }: WatchEvent<T>): boolean {
    if (type === "ERROR") throw errorOfEvent(object);
    if (isOfType(object, this.#options.type) && KNOWN_EVENTS.has(type)) return true;
    this.#log.warn("an event was ignored", { event: type, kind: object.kind });
    return false;
  }

  #decide(end: WatchOutcome): NextMove {
    if (this.#stop.signal.aborted) return {};
    this.#history = historyAfter(end, this.#history);
    const next = afterWatch(end, this.#history);
    if (end.error !== undefined || next.pauseSeconds !== undefined) this.#failed("a watch failed", end.error);
    else this.#log.debug("a watch ended", { cut: end.cut, events: end.events, ageMs: Math.round(end.ageMs) });
    return next.relist === undefined && end.endedAtMs >= this.#relistDueMs ? { ...next, relist: "routine" } : next;
  }

  #failed(message: string, error: unknown): void {
    this.#log.warn(message, { error: error ?? "closed at once" });
  }

  #progressed(): void {
    this.#lastProgressAt = this.#clock.monotonicMs();
  }

  #pause(seconds: number): Promise<void> {
    return pause(this.#clock, this.#backoff.next(seconds), this.#stop.signal);
  }

  #selection() {
    const { namespace, labelSelector, withoutManagedFields = false } = this.#options;
    return { namespace, labelSelector, withoutManagedFields };
  }
}
