import type { KubeObject, ObjectMeta } from "../client/objects.ts";
import { isNewer } from "./object-cache.ts";

/** The newest undelivered write of this process to one key. */
interface PendingWrite<T> {
  readonly uid: string;
  /** Last known version; the end of a deleted object is newer. */
  readonly resourceVersion: string;
  readonly object: T | undefined;
  /** Compares with `mark()`. */
  readonly order: number;
  /** Time of the last update of the key. */
  readonly waitsSinceMs: number;
}

/**
 * Writes of this process that the watch has yet to deliver, one per key.
 *
 * A write leaves when the watch or a list delivers its version or a newer one, when its object ends, and with every
 * list that began after it. After a restore of etcd, when versions go back, only the last holds.
 */
export class PendingWrites<T extends KubeObject> {
  readonly #writes = new Map<string, PendingWrite<T>>();
  #order = 0;

  /** A moment between writes: earlier writes are older, later ones newer. */
  mark(): number {
    this.#order += 1;
    return this.#order;
  }

  get(key: string): PendingWrite<T> | undefined {
    return this.#writes.get(key);
  }

  /** Records the response to a write, unless a newer write or a deletion is recorded. */
  noteWritten(key: string, object: T, nowMs: number): void {
    const { uid, resourceVersion } = object.metadata;
    const known = this.#writes.get(key);
    if (known !== undefined && (isDeletionOf(known, uid) || isNewer(known.resourceVersion, resourceVersion))) return;
    this.#note(key, { uid, resourceVersion, object }, known?.waitsSinceMs ?? nowMs);
  }

  /** Records a deletion, whatever the object's last version was. */
  noteDeleted(key: string, { uid, resourceVersion }: ObjectMeta, nowMs: number): void {
    const known = this.#writes.get(key);
    // A successor has been written already.
    if (known !== undefined && known.uid !== uid && isNewer(known.resourceVersion, resourceVersion)) return;
    this.#note(key, { uid, resourceVersion, object: undefined }, known?.waitsSinceMs ?? nowMs);
  }

  /** Records a version that the watch or a list delivered. */
  delivered(key: string, { uid, resourceVersion }: ObjectMeta, nowMs: number): void {
    const known = this.#writes.get(key);
    if (known === undefined) return;
    const isPast = !isNewer(known.resourceVersion, resourceVersion);
    if (isPast && !isDeletionOf(known, uid)) this.#writes.delete(key);
    else this.#writes.set(key, { ...known, waitsSinceMs: nowMs });
  }

  /** Records the version with which the watch or a list ended the object. */
  ended(key: string, { uid, resourceVersion }: Pick<ObjectMeta, "uid" | "resourceVersion">): void {
    const known = this.#writes.get(key);
    if (known === undefined) return;
    if (isDeletionOf(known, uid) || isNewer(resourceVersion, known.resourceVersion)) this.#writes.delete(key);
  }

  /** Takes a list of this version that began at `mark`; answers the keys whose writes it covers. */
  listed(mark: number, resourceVersion: string): string[] {
    const isCovered = ({ order, object, resourceVersion: version }: PendingWrite<T>) =>
      order < mark || (object !== undefined && !isNewer(version, resourceVersion));
    const covered = [...this.#writes].filter(([, write]) => isCovered(write)).map(([key]) => key);
    for (const key of covered) this.#writes.delete(key);
    return covered;
  }

  /** Start of the longest wait for a write; undefined without one. */
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
