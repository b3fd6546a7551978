import type { KubeObject, ObjectMeta } from "../client/objects.ts";
import { isNewer } from "./resource-version.ts";

/** The newest write of this process to one key, while the watch has not delivered it. */
export interface PendingWrite<T> {
  readonly uid: string;
  /** Of a deletion, the last version that is known: its end is newer. */
  readonly resourceVersion: string;
  /** What the API server answered; undefined when the object was deleted. */
  readonly object: T | undefined;
  /** Compares with `mark()`. */
  readonly order: number;
  /** Since when nothing has been heard of the key. */
  readonly waitsSinceMs: number;
}

/**
 * The writes of this process that the watch has still to deliver, one a key.
 *
 * A write leaves when the watch or a list delivers its version or a newer one, when its object ends, and with every list
 * that began after it. The last rule alone holds when etcd is restored, and versions go back.
 */
export class PendingWrites<T extends KubeObject> {
  readonly #writes = new Map<string, PendingWrite<T>>();
  #order = 0;

  /** A moment between writes: all noted before are older, all noted later are newer. */
  mark(): number {
    this.#order += 1;
    return this.#order;
  }

  get(key: string): PendingWrite<T> | undefined {
    return this.#writes.get(key);
  }

  /** Notes what a write was answered with, unless a newer write has been noted or the object was deleted. */
  noteWritten(key: string, object: T, nowMs: number): void {
    const { uid, resourceVersion } = object.metadata;
    const known = this.#writes.get(key);
    if (known !== undefined && (isDeletionOf(known, uid) || isNewer(known.resourceVersion, resourceVersion))) return;
    this.#note(key, { uid, resourceVersion, object }, known?.waitsSinceMs ?? nowMs);
  }

  /** Notes that the object is deleted, whatever its last version was. */
  noteDeleted(key: string, { uid, resourceVersion }: ObjectMeta, nowMs: number): void {
    const known = this.#writes.get(key);
    // A successor has been written already.
    if (known !== undefined && known.uid !== uid && isNewer(known.resourceVersion, resourceVersion)) return;
    this.#note(key, { uid, resourceVersion, object: undefined }, known?.waitsSinceMs ?? nowMs);
  }

  /** The watch or a list has delivered this version of the key. */
  delivered(key: string, { uid, resourceVersion }: ObjectMeta, nowMs: number): void {
    const known = this.#writes.get(key);
    if (known === undefined) return;
    const isPast = !isNewer(known.resourceVersion, resourceVersion);
    if (isPast && !isDeletionOf(known, uid)) this.#writes.delete(key);
    else this.#writes.set(key, { ...known, waitsSinceMs: nowMs });
  }

  /** The watch or a list has said that the object ended, with this version. */
  ended(key: string, { uid, resourceVersion }: Pick<ObjectMeta, "uid" | "resourceVersion">): void {
    const known = this.#writes.get(key);
    if (known === undefined) return;
    if (isDeletionOf(known, uid) || isNewer(resourceVersion, known.resourceVersion)) this.#writes.delete(key);
  }

  /** A list that began at `mark` has been taken in, of this version; answers the keys that lost writes to it. */
  listed(mark: number, resourceVersion: string): string[] {
    const isCovered = ({ order, object, resourceVersion: version }: PendingWrite<T>) =>
      order < mark || (object !== undefined && !isNewer(version, resourceVersion));
    const covered = [...this.#writes].filter(([, write]) => isCovered(write)).map(([key]) => key);
    for (const key of covered) this.#writes.delete(key);
    return covered;
  }

  /** Since when the write that has waited longest waits; undefined when none does. */
  oldestSinceMs(): number | undefined {
    let oldest: number | undefined;
    for (const { waitsSinceMs } of this.#writes.values()) oldest = Math.min(oldest ?? waitsSinceMs, waitsSinceMs);
    return oldest;
  }

  #note(key: string, write: Pick<PendingWrite<T>, "uid" | "resourceVersion" | "object">, waitsSinceMs: number): void {
    this.#writes.set(key, { ...write, order: this.mark(), waitsSinceMs });
  }
}

function isDeletionOf(write: PendingWrite<KubeObject>, uid: string): boolean {
  return write.object === undefined && write.uid === uid;
}
