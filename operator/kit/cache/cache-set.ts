import type { KubeClient } from "../client/kube-client.ts";
import type { KubeObject } from "../client/objects.ts";
import type { Log } from "../log.ts";
import type { Clock } from "../time/clock.ts";
import { createObjectCache } from "./indexed-cache.ts";
import { Interner } from "./interner.ts";
import type { ObjectCache } from "./object-cache.ts";
import { createReflector, type Reflector, type ReflectorStatus } from "./reflector.ts";
import { type WatchedKind, withoutHistory } from "./watched-kind.ts";

/** All caches of this process, each fed by a reflector. */
export interface CacheSet {
  watch<T extends KubeObject>(kind: WatchedKind<T>): ObjectCache<T>;
  start(): void;
  /** Resolves when every cache has its first complete list; rejects with the signal's reason on abort. */
  whenSynced(signal: AbortSignal): Promise<void>;
  readonly synced: boolean;
  /** Kinds without a first complete list, such as `applications.argoproj.io`. */
  readonly missing: readonly string[];
  /** Milliseconds since the last progress of each kind's watch; infinite before its first page. */
  readonly progressAgesMs: ReadonlyMap<string, number>;
  /** The longest of `progressAgesMs`. */
  readonly oldestProgressMs: number;
  /** False when a watch has been silent for so long that it must hang. */
  readonly alive: boolean;
  stop(): Promise<void>;
}

/** A watch reopens within a minute, and a page arrives or fails within one. */
const LONGEST_SILENCE_MS = 300_000;

interface Context {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
}

interface Watched {
  readonly name: string;
  readonly cache: ObjectCache<KubeObject>;
  readonly reflector: Reflector;
}

export function createCacheSet(context: Context): CacheSet {
  const { client, clock, log } = context;
  const watched: Watched[] = [];
  const interner = new Interner();
  return {
    watch({ type, where, trim = withoutHistory, indexes = {}, isInterned = false, withoutManagedFields = false }) {
      const transform = isInterned ? (object: Parameters<typeof trim>[0]) => interner.compact(trim(object)) : trim;
      const cache = createObjectCache({ log, clock, indexes, transform });
      const reflector = createReflector({ client, clock, log, type, cache, withoutManagedFields, ...where });
      watched.push({ name: [type.plural, type.group].filter(Boolean).join("."), cache, reflector });
      return cache;
    },
    start() {
      for (const { reflector } of watched) reflector.start();
    },
    async whenSynced(signal) {
      await Promise.all(watched.map(({ cache }) => cache.whenSynced(signal)));
    },
    get synced() {
      return watched.every(({ cache }) => cache.synced);
    },
    get missing() {
      return watched.filter(({ cache }) => !cache.synced).map(({ name }) => name);
    },
    get progressAgesMs() {
      const nowMs = clock.monotonicMs();
      const ageMs = (reflector: Reflector) => nowMs - (reflector.status().lastProgressAt ?? Number.NEGATIVE_INFINITY);
      return new Map(watched.map(({ name, reflector }) => [name, ageMs(reflector)]));
    },
    get oldestProgressMs() {
      return Math.max(...this.progressAgesMs.values());
    },
    get alive() {
      const isAlive = ({ lastBegunAt, lastProgressAt = Number.NEGATIVE_INFINITY }: ReflectorStatus) =>
        lastBegunAt === undefined || clock.monotonicMs() - Math.max(lastBegunAt, lastProgressAt) < LONGEST_SILENCE_MS;
      return watched.every(({ reflector }) => isAlive(reflector.status()));
    },
    async stop() {
      await Promise.all(watched.map(({ reflector }) => reflector.stop()));
    },
  };
}
