import { type KubeObject, keyOf } from "../client/objects.ts";
import type { Log } from "../log.ts";
import { type Clock, systemClock } from "../time/clock.ts";
import { orAborted } from "../time/deadline.ts";
import { yieldIfDue } from "../time/yield-if-due.ts";
import { CacheIndex } from "./cache-index.ts";
import type { CacheFeed, CacheListener, ListMark, ObjectCache, ObjectCacheOptions } from "./object-cache.ts";
import { isSameVersion, PendingWrites } from "./pending-writes.ts";

interface Change<T> {
  readonly key: string;
  readonly current: T | undefined;
  readonly previous: T | undefined;
}

/** The cache itself. Two maps: `#base` is what the server delivered, `#view` what readers see; own writes make the difference. */
export class IndexedCache<T extends KubeObject> implements ObjectCache<T>, CacheFeed<T> {
  readonly #base = new Map<string, T>();
  readonly #view = new Map<string, T>();
  readonly #own = new PendingWrites<T>();
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
    this.#transform = options.transform ?? withoutManagedFields;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log;
  }

  get(key: string): T | undefined {
    return this.#view.get(key);
  }

  list(): T[] {
    return [...this.#view.values()];
  }

  get size(): number {
    return this.#view.size;
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
    const delivered = this.#base.get(key);
    this.#own.noteWritten(key, object.metadata, {
      object: this.trimmed(object),
      atMs: this.#clock.monotonicMs(),
    });
    if (delivered !== undefined && isSameVersion(delivered.metadata, object.metadata)) {
      this.#own.delivered(key, object.metadata);
    }
    this.#settle([key]);
  }

  deleted(object: T): void {
    const key = keyOf(object);
    this.#own.noteDeleted(key, object.metadata.uid, this.#clock.monotonicMs());
    this.#settle([key]);
  }

  subscribe(listener: CacheListener<T>): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  beginList(): ListMark {
    return { begun: this.#own.mark() };
  }

  /** An object that the transform can't take costs its own room only, never the stream that brought it. */
  trimmed(object: T): T {
    return this.#guarded(keyOf(object), () => this.#transform(object)) ?? object;
  }

  async replace(items: ReadonlyMap<string, T>, mark: ListMark): Promise<void> {
    for (const [key, known] of this.#base) {
      await yieldIfDue();
      if (items.has(key)) continue;
      this.#end(key, known);
      this.#settle([key]);
    }
    for (const [key, item] of items) {
      await yieldIfDue();
      this.#accept(key, this.#shown(key, item.metadata) ?? item);
      this.#settle([key]);
    }
    this.#settle(this.#own.listed(mark.begun));
    this.#synced = true;
    this.#syncedOnce.resolve();
  }

  upsert(object: T): void {
    if (this.#own.isReplayed(object.metadata)) return;
    const key = keyOf(object);
    // Most events tell this process of its own writes.
    this.#accept(key, this.#shown(key, object.metadata) ?? this.trimmed(object));
    this.#settle([key]);
  }

  remove(object: T): void {
    if (this.#own.isReplayed(object.metadata)) return;
    const key = keyOf(object);
    const known = this.#base.get(key);
    if (known === undefined || known.metadata.uid === object.metadata.uid) this.#leave(key, object, known);
    else this.#own.gone(key, object.metadata.uid);
    this.#settle([key]);
  }

  oldestUnconfirmedMs(): number | undefined {
    const oldest = this.#own.oldestAtMs();
    return oldest === undefined ? undefined : this.#clock.monotonicMs() - oldest;
  }

  #accept(key: string, object: T): void {
    const known = this.#base.get(key);
    if (known !== undefined && known.metadata.uid !== object.metadata.uid) this.#end(key, known);
    else if (known !== undefined && !isSameVersion(known.metadata, object.metadata)) this.#own.overtake(known.metadata);
    this.#base.set(key, object);
    this.#own.delivered(key, object.metadata);
  }

  /** Readers keep the object that they have of a version: a relist brings each again, of which no listener is told. */
  #shown(key: string, version: KubeObject["metadata"]): T | undefined {
    const shown = this.#view.get(key);
    return shown !== undefined && isSameVersion(shown.metadata, version) ? shown : undefined;
  }

  #leave(key: string, last: T, known: T | undefined): void {
    this.#base.delete(key);
    if (known !== undefined) this.#own.overtake(known.metadata);
    this.#own.left(key, last.metadata);
  }

  #end(key: string, known: T): void {
    this.#base.delete(key);
    this.#own.gone(key, known.metadata.uid);
  }

  /** Brings the view of the keys up to date, all of them before the first listener hears of any. */
  #settle(keys: Iterable<string>): void {
    const changes: Change<T>[] = [];
    for (const key of keys) changes.push(...this.#changesOf(key));
    for (const change of changes) this.#tell(change);
  }

  #changesOf(key: string): Change<T>[] {
    const previous = this.#view.get(key);
    const own = this.#own.shown(key);
    const current = own === undefined ? this.#base.get(key) : own.object;
    if (current === undefined) this.#view.delete(key);
    else this.#view.set(key, current);
    if (previous !== current) this.#file(key, current);
    return changesBetween(key, current, previous);
  }

  #file(key: string, object: T | undefined): void {
    for (const index of this.#indexes.values()) this.#guarded(key, () => index.file(key, object));
  }

  #tell({ key, current, previous }: Change<T>): void {
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

/** Another object under the same key is an end and a beginning; the same version is no change. */
function changesBetween<T extends KubeObject>(
  key: string,
  current: T | undefined,
  previous: T | undefined,
): Change<T>[] {
  if (current === undefined || previous === undefined) {
    return current === previous ? [] : [{ key, current, previous }];
  }
  if (isSameVersion(current.metadata, previous.metadata)) return [];
  if (current.metadata.uid === previous.metadata.uid) return [{ key, current, previous }];
  return [
    { key, current: undefined, previous },
    { key, current, previous: undefined },
  ];
}

function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _dropped, ...metadata } = object.metadata;
  return { ...object, metadata };
}
