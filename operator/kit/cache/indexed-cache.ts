import { type KubeObject, keyOf } from "../client/objects.ts";
import { equalJson } from "../equal-json.ts";
import type { Log } from "../log.ts";
import { type Clock, systemClock } from "../time/clock.ts";
import { orAborted } from "../time/deadline.ts";
import { yieldIfDue } from "../time/yield-if-due.ts";
import { CacheIndex } from "./cache-index.ts";
import {
  type CacheFeed,
  type CacheListener,
  type Collection,
  isNewer,
  type ListMark,
  type ObjectCache,
  type ObjectCacheOptions,
} from "./object-cache.ts";
import { PendingWrites } from "./pending-writes.ts";
import { withoutHistory } from "./watched-kind.ts";

/** An empty cache; a reflector fills it. */
export function createObjectCache<T extends KubeObject>(
  options: ObjectCacheOptions<T> = {},
): ObjectCache<T> & CacheFeed<T> {
  return new IndexedCache(options);
}

interface Change<T> {
  readonly key: string;
  readonly current: T | undefined;
  readonly previous: T | undefined;
}

/** The readers' view: delivered objects overlaid with pending writes. */
class IndexedCache<T extends KubeObject> implements ObjectCache<T>, CacheFeed<T> {
  readonly #delivered = new DeliveredObjects<T>();
  readonly #pending = new PendingWrites<T>();
  readonly #view = new Map<string, T>();
  readonly #indexes: ReadonlyMap<string, CacheIndex<T>>;
  readonly #listeners = new Set<CacheListener<T>>();
  readonly #transform: (object: T) => T;
  readonly #clock: Clock;
  readonly #log: Log | undefined;
  readonly #syncedOnce = Promise.withResolvers<void>();
  #synced = false;

  constructor(options: ObjectCacheOptions<T>) {
    const indexes = Object.entries(options.indexes ?? {});
    this.#indexes = new Map(indexes.map(([name, valuesOf]) => [name, new CacheIndex(valuesOf)]));
    this.#transform = options.transform ?? withoutHistory;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
  }

  get(key: string): T | undefined {
    return this.#view.get(key);
  }

  list(): T[] {
    return [...this.#view.values()];
  }

  by(index: string, value: string): readonly T[] {
    const found = this.#indexes.get(index);
    if (found === undefined) throw new TypeError(`there is no index ${index}`);
    return found.under(value);
  }

  get synced(): boolean {
    return this.#synced;
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return orAborted(this.#syncedOnce.promise, signal);
  }

  written(object: T): void {
    const key = keyOf(object);
    const delivered = this.#delivered.get(key);
    if (delivered !== undefined && isSameVersion(delivered.metadata, object.metadata)) {
      this.#takeAnswer(key, this.trimmed(object), delivered);
      return;
    }
    if (this.#delivered.hasReached(key, object.metadata.resourceVersion)) return;
    this.#pending.noteWritten(key, this.trimmed(object), this.#clock.monotonicMs());
    this.#update([key]);
  }

  deleted(object: T): void {
    const key = keyOf(object);
    const { uid, resourceVersion } = object.metadata;
    const isDelivered = this.#delivered.get(key)?.metadata.uid === uid;
    // The object's end or successor arrived before the response.
    if (!isDelivered && this.#delivered.hasReached(key, resourceVersion)) return;
    this.#pending.noteDeleted(key, object.metadata, this.#clock.monotonicMs());
    this.#update([key]);
  }

  subscribe(listener: CacheListener<T>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  beginList(): ListMark {
    return { begun: this.#pending.mark() };
  }

  /** An object that the transform fails on is kept whole; the stream goes on. */
  trimmed(object: T): T {
    return this.#guarded(keyOf(object), () => this.#transform(object)) ?? object;
  }

  async replace({ items, resourceVersion }: Collection<T>, mark: ListMark): Promise<void> {
    for (const [key, { metadata }] of this.#delivered.entries()) {
      await yieldIfDue();
      if (items.has(key)) continue;
      this.#delivered.end(key, resourceVersion);
      this.#pending.ended(key, { uid: metadata.uid, resourceVersion });
      this.#update([key]);
    }
    for (const [key, item] of items) {
      await yieldIfDue();
      const shown = this.#shown(key, item.metadata);
      this.#accept(key, shown !== undefined && equalJson(shown, item) ? shown : item);
      this.#update([key]);
    }
    this.#delivered.listed(resourceVersion);
    this.#update(this.#pending.listed(mark.begun, resourceVersion));
    this.#synced = true;
    this.#syncedOnce.resolve();
  }

  upsert(object: T): void {
    const key = keyOf(object);
    if (this.#delivered.hasReached(key, object.metadata.resourceVersion)) return;
    // Most events echo this process's own writes.
    this.#accept(key, this.#shown(key, object.metadata) ?? this.trimmed(object));
    this.#update([key]);
  }

  remove({ metadata }: T): void {
    const key = keyOf({ metadata });
    const { resourceVersion } = metadata;
    const known = this.#delivered.get(key)?.metadata.resourceVersion;
    const isRepeated = known === undefined && this.#delivered.hasReached(key, resourceVersion);
    if (isRepeated || (known !== undefined && isNewer(known, resourceVersion))) return;
    this.#delivered.end(key, resourceVersion);
    this.#pending.ended(key, metadata);
    this.#update([key]);
  }

  oldestUnconfirmedMs(): number | undefined {
    const sinceMs = this.#pending.oldestSinceMs();
    return sinceMs === undefined ? undefined : this.#clock.monotonicMs() - sinceMs;
  }

  /**
   * A watch older than a change of the CRD delivers objects without the new fields until the API server ends it a
   * second later; the response to a write has them.
   */
  #takeAnswer(key: string, object: T, delivered: T): void {
    if (equalJson(object, delivered)) return;
    this.#delivered.put(key, object);
    this.#update([key]);
  }

  #accept(key: string, object: T): void {
    this.#delivered.put(key, object);
    this.#pending.delivered(key, object.metadata, this.#clock.monotonicMs());
  }

  /** Keeps the instance that readers have of a version: a relist repeats every object without a change. */
  #shown(key: string, version: KubeObject["metadata"]): T | undefined {
    const shown = this.#view.get(key);
    return shown !== undefined && isSameVersion(shown.metadata, version) ? shown : undefined;
  }

  /** Updates the view of all keys before it calls the first listener. */
  #update(keys: Iterable<string>): void {
    const changes: Change<T>[] = [];
    for (const key of keys) changes.push(...this.#changesOf(key));
    for (const change of changes) this.#notify(change);
  }

  #changesOf(key: string): Change<T>[] {
    const previous = this.#view.get(key);
    const pending = this.#pending.get(key);
    const current = pending === undefined ? this.#delivered.get(key) : pending.object;
    if (current === undefined) this.#view.delete(key);
    else this.#view.set(key, current);
    if (previous !== current) this.#file(key, current);
    return changesBetween(key, current, previous);
  }

  #file(key: string, object: T | undefined): void {
    for (const index of this.#indexes.values()) this.#guarded(key, () => index.file(key, object));
  }

  #notify({ key, current, previous }: Change<T>): void {
    for (const listener of this.#listeners) this.#guarded(key, () => listener(key, current, previous));
  }

  #guarded<R>(key: string, work: () => R): R | undefined {
    try {
      return work();
    } catch (error) {
      this.#report(key, error);
      return undefined;
    }
  }

  #report(key: string, error: unknown): void {
    if (this.#log !== undefined) {
      this.#log.error("a transform, index or listener of a cache failed", { key, error });
      return;
    }
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Another object under the same key is an end and a beginning; equal content of one version is no change. */
function changesBetween<T extends KubeObject>(
  key: string,
  current: T | undefined,
  previous: T | undefined,
): Change<T>[] {
  if (current === undefined || previous === undefined) {
    return current === previous ? [] : [{ key, current, previous }];
  }
  if (isSameVersion(current.metadata, previous.metadata) && equalJson(current, previous)) return [];
  if (current.metadata.uid === previous.metadata.uid) return [{ key, current, previous }];
  return [
    { key, current: undefined, previous },
    { key, current, previous: undefined },
  ];
}

/** Compares UIDs, too: after a restore of etcd versions repeat, but another object of the name has another UID. */
function isSameVersion(one: KubeObject["metadata"], other: KubeObject["metadata"]): boolean {
  return one.uid === other.uid && one.resourceVersion === other.resourceVersion;
}

/** Deletions remembered until the next list; the oldest go first. */
const MOST_ENDS = 8_192;
/** Older than every version of the API server. */
const NO_VERSION = "0";

/** Delivered objects and their versions: a repeated or late event never brings back an older state. */
class DeliveredObjects<T extends KubeObject> {
  readonly #objects = new Map<string, T>();
  /** Key → the version of its object's end, since the last list. */
  readonly #ends = new Map<string, string>();
  /** Objects missing from the last list had ended by its version. */
  #listVersion = NO_VERSION;

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  entries(): Iterable<[string, T]> {
    return this.#objects;
  }

  hasReached(key: string, version: string): boolean {
    return !isNewer(version, this.#versionOf(key));
  }

  put(key: string, object: T): void {
    this.#objects.set(key, object);
    this.#ends.delete(key);
  }

  end(key: string, version: string): void {
    this.#objects.delete(key);
    this.#ends.set(key, version);
    if (this.#ends.size > MOST_ENDS) this.#ends.delete(this.#ends.keys().next().value as string);
  }

  /** Records a list of this version: it holds even when it is older than the previous state. */
  listed(version: string): void {
    this.#ends.clear();
    this.#listVersion = version;
  }

  #versionOf(key: string): string {
    return this.#objects.get(key)?.metadata.resourceVersion ?? this.#ends.get(key) ?? this.#listVersion;
  }
}
