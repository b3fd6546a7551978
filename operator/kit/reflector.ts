import type { Clock } from "./clock.ts";
import type { KubeClient } from "./kube-client.ts";
import type { KubeObject, ResourceType } from "./kube-object.ts";
import type { Log } from "./log.ts";
import type { CacheFeed, ObjectCache } from "./object-cache.ts";

/** How a reflector is doing, for readiness and metrics. Times are on the clock's monotonic scale. */
export interface ReflectorStatus {
  readonly synced: boolean;
  /** When a list or an event (bookmarks too) last arrived, or bytes on the watch; undefined before the first. */
  readonly lastProgressAt: number | undefined;
  readonly lists: number;
  readonly watches: number;
  readonly events: number;
  /** Events that were ignored: another kind, or an unknown type. */
  readonly ignored: number;
  /** Failed lists, broken, refused and too short watches. */
  readonly failures: number;
}

/** Keeps a cache equal to a collection: list once, then watch, and survive whatever the connection does. */
export interface Reflector {
  start(): void;
  /** Resolves when nothing of it is left running. */
  stop(): Promise<void>;
  status(): ReflectorStatus;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: KubeClient;
  readonly type: ResourceType<T>;
  readonly cache: ObjectCache<T> & CacheFeed<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export declare function createReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector;
