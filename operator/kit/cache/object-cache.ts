import type { KubeObject } from "../client/objects.ts";
import type { Log } from "../log.ts";
import type { Clock } from "../time/clock.ts";
import type { IndexFunction } from "./cache-index.ts";

/** Called whenever the view of a key changes. Must not block: compute keys and enqueue them. */
export type CacheListener<T> = (key: string, current: T | undefined, previous: T | undefined) => void;

/**
 * Read side: the last known state of the API server plus this process's own writes.
 *
 * Objects are shared and must not be changed; readers see one instance per version. Report every own write with
 * `written` or `deleted`: from then on no reader sees an older version, and the watch takes over once it has delivered
 * that version. Report only objects that the watch selects; others are forgotten with the next list.
 */
export interface ObjectCache<T extends KubeObject> {
  /** The object under `namespace/name`, or `name` for cluster-scoped kinds. */
  get(key: string): T | undefined;
  /** All objects, in a new array. */
  list(): T[];
  /** The objects that the named index files under `value`. @throws TypeError for an index that was not declared */
  by(index: string, value: string): readonly T[];
  /** True once the first complete list has arrived; never false again. */
  readonly synced: boolean;
  /** Resolves when synced; rejects with the signal's reason when it aborts first. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Takes the API server's response to an own write. */
  written(object: T): void;
  /** Takes an object that an own delete removed at once. */
  deleted(object: T): void;
  subscribe(listener: CacheListener<T>): () => void;
}

/** All objects of a kind, and the version from which a watch may continue. */
export interface Collection<T> {
  readonly items: ReadonlyMap<string, T>;
  readonly resourceVersion: string;
}

/** Write side of the cache, in the API server's order. */
export interface CacheFeed<T extends KubeObject> {
  /** Call before a list request is sent; its result goes to `replace`. */
  beginList(): ListMark;
  trimmed(object: T): T;
  /**
   * Takes a complete, consistent list of trimmed objects: missing ones are gone, even with an older version after a
   * restore of etcd. Works object by object; feed nothing else until it resolves.
   */
  replace(collection: Collection<T>, mark: ListMark): Promise<void>;
  /** Takes an ADDED or MODIFIED event; one older than the delivered state of its key changes nothing. */
  upsert(object: T): void;
  /** Takes a DELETED event: the last known object with the version of its end, or of its leaving the selection. */
  remove(object: T): void;
  /** Milliseconds for which the oldest own write has waited for its event; undefined without one. */
  oldestUnconfirmedMs(): number | undefined;
}

/** The moment at which a list began: earlier writes are in it. */
export interface ListMark {
  readonly begun: number;
}

export interface ObjectCacheOptions<T extends KubeObject> {
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Applied to every object before it is kept, own writes included (default `withoutHistory`). */
  readonly transform?: (object: T) => T;
  readonly clock?: Clock;
  /** Receives errors of transforms, indexes and listeners; without it such an error ends the process. */
  readonly log?: Log;
}

/**
 * True when a resource version is newer than another of the same kind.
 *
 * Resource versions are integers of any length without leading zeros: the longer one is newer, and of two equally long
 * ones the one that sorts later (https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions,
 * KEP-5504). They grow with every write of a kind, until a restore of etcd sets them back.
 */
export function isNewer(version: string, other: string): boolean {
  if (version.length !== other.length) return version.length > other.length;
  return version > other;
}
