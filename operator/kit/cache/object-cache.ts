import type { KubeObject } from "../client/objects.ts";
import type { Log } from "../log.ts";
import type { Clock } from "../time/clock.ts";
import type { IndexFunction } from "./cache-index.ts";

/** Told whenever the view of a key changes. Must not block: compute keys and enqueue them. */
export type CacheListener<T> = (key: string, current: T | undefined, previous: T | undefined) => void;

/**
 * The read side: what the API server held when it was last heard of, plus what this process wrote since.
 *
 * Objects are shared and must not be changed; of each version readers see one object for as long as it stays. Report every
 * own write with `written` or `deleted`: from then on no reader sees an older version, and the watch takes over once it
 * has delivered that very version. Report only objects that the watch selects; another one is forgotten with the next list.
 */
export interface ObjectCache<T extends KubeObject> {
  /** The object under `namespace/name`, or `name` for cluster-scoped kinds. */
  get(key: string): T | undefined;
  /** All of them, in an array of its own. */
  list(): T[];
  readonly size: number;
  /** The objects that the named index files under `value`. @throws TypeError for an index that was not declared */
  by(index: string, value: string): readonly T[];
  /** True once the first complete list has arrived; never false again. */
  readonly synced: boolean;
  /** Resolves when synced; rejects with the signal's reason when it aborts first. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** What the API server answered to a write of ours. */
  written(object: T): void;
  /** An object that our own delete has removed at once. */
  deleted(object: T): void;
  /** Returns the end of the subscription. */
  subscribe(listener: CacheListener<T>): () => void;
}

/** Everything that there is of a kind, and where a watch may go on. */
export interface Collection<T> {
  /** By key. */
  readonly items: ReadonlyMap<string, T>;
  readonly resourceVersion: string;
}

/** What fills the cache, in the order of the API server. */
export interface CacheFeed<T extends KubeObject> {
  /** Call before a list request is sent; its result goes to `replace`. */
  beginList(): ListMark;
  /** What is kept of an object. */
  trimmed(object: T): T;
  /**
   * A complete, consistent list of trimmed objects: what it lacks is gone, also when its version is older than what was
   * delivered before, because etcd was restored. Taken in object by object; nothing else is to be fed until it resolves.
   */
  replace(collection: Collection<T>, mark: ListMark): Promise<void>;
  /** An ADDED or MODIFIED event; one that is older than what was delivered for its key changes nothing. */
  upsert(object: T): void;
  /** A DELETED event, with the last known object and the version of its end; also of one that the watch selects no more. */
  remove(object: T): void;
  /** How long the oldest own write has been waiting for its event, in milliseconds; undefined when none does. */
  oldestUnconfirmedMs(): number | undefined;
}

/** The moment at which a list began, so that writes made before it are known to be in it. */
export interface ListMark {
  readonly begun: number;
}

export interface ObjectCacheOptions<T extends KubeObject> {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Applied to every object before it is kept, also to own writes (default: drops `managedFields`). */
  readonly transform?: (object: T) => T;
  readonly clock?: Clock;
  /** Hears of transforms, indexes and listeners that throw; without it such an error ends the process. */
  readonly log?: Log;
}
