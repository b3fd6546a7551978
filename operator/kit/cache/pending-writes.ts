/** Stands in the place of a resource version for the end of an object, as far as the watch sees it. */
const ENDED = "ended";
/** The same for an end that no event takes back: every version is overtaken by it. */
const GONE = "gone";

/** How many versions that others have overtaken are remembered, to recognise a write whose event was faster than its answer. */
const MOST_OVERTAKEN = 8192;

/** One write of ours that the watch has not delivered yet. */
interface OwnWrite<T> {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Grows with every change of the spec; the end of an object comes after all of them. */
  readonly generation: number;
  /** Undefined: our delete removed it. */
  readonly object: T | undefined;
  readonly order: number;
  readonly notedAtMs: number;
}

/** The version of an object: uid and resource version compare for equality only. */
export interface Version {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The only part that may be compared for order; many versions share one. */
  readonly generation?: number;
}

/** What a key shows while own writes wait: `object` undefined means that it is deleted. */
export interface Shown<T> {
  readonly object: T | undefined;
}

/**
 * The writes of this process that the watch has still to deliver.
 *
 * Resource versions are compared for equality only, so a write leaves in one of four ways: its very version or that of a
 * write noted after it arrives, its object's end arrives, a list that began after it arrives, or it, or a write noted
 * after it, turns out to be overtaken already when that is noted.
 */
export class PendingWrites<T> {
  readonly #waiting = new Map<string, OwnWrite<T>[]>();
  /** Version → the session in which it was overtaken. */
  readonly #overtaken = new Map<string, number>();
  #order = 0;
  #session = 0;

  /** A moment between writes: all noted before are older, all noted later are newer. */
  mark(): number {
    this.#order += 1;
    return this.#order;
  }

  noteWritten(key: string, version: Version, written: { readonly object: T; readonly atMs: number }): void {
    this.#note(key, version, written);
  }

  noteDeleted(key: string, uid: string, atMs: number): void {
    this.#note(key, { uid, resourceVersion: ENDED, generation: Number.POSITIVE_INFINITY }, { object: undefined, atMs });
  }

  /** True when the watch has delivered this version and something newer since. */
  isOvertaken({ uid, resourceVersion }: Version): boolean {
    return this.#overtaken.has(`${uid}/${resourceVersion}`) || this.#overtaken.has(`${uid}/${GONE}`);
  }

  /**
   * True when an event of this session has overtaken the version: it can only be a repetition or a reordering.
   *
   * A list begins a new session, because a restored API server may rightly deliver old versions again.
   */
  isReplayed({ uid, resourceVersion }: Version): boolean {
    const sessions = [this.#overtaken.get(`${uid}/${resourceVersion}`), this.#overtaken.get(`${uid}/${GONE}`)];
    return sessions.includes(this.#session);
  }

  /** A version of the watch or of a list has been replaced by a newer one. */
  overtake({ uid, resourceVersion }: Version): void {
    this.#remember(`${uid}/${resourceVersion}`);
  }

  /** The watch or a list has delivered this version: it is the newest of its object. */
  delivered(key: string, { uid, resourceVersion }: Version): void {
    for (const known of [resourceVersion, ENDED, GONE]) this.#overtaken.delete(`${uid}/${known}`);
    this.#reached(key, { uid, resourceVersion });
  }

  /**
   * The watch says that this object has ended with this version. It may only have left what the watch selects, and come
   * back as it was, with a version that was never seen; those that were seen can only be repetitions.
   */
  left(key: string, version: Version): void {
    this.overtake(version);
    this.#end(key, version.uid);
  }

  /** A list, or a successor under its key, says that this object is no more. */
  gone(key: string, uid: string): void {
    this.#remember(`${uid}/${GONE}`);
    this.#end(key, uid);
  }

  /** A list that began at `mark` has been taken in; answers the keys that lost writes to it. */
  listed(mark: number): string[] {
    this.#session += 1;
    const touched = [...this.#waiting].filter(([, writes]) => writes.some(({ order }) => order < mark));
    for (const [key] of touched) this.#keep(key, ({ order }) => order > mark);
    return touched.map(([key]) => key);
  }

  /** What our newest waiting write makes of the key; undefined when none waits. */
  shown(key: string): Shown<T> | undefined {
    return this.#waiting.get(key)?.at(-1);
  }

  /** When the write that has waited longest was noted. */
  oldestAtMs(): number | undefined {
    let oldest: number | undefined;
    for (const writes of this.#waiting.values()) {
      for (const { notedAtMs } of writes) oldest = oldest === undefined ? notedAtMs : Math.min(oldest, notedAtMs);
    }
    return oldest;
  }

  #end(key: string, uid: string): void {
    this.#remember(`${uid}/${ENDED}`);
    this.#keep(key, (write) => write.uid !== uid);
  }

  #note(key: string, version: Version, written: { readonly object: T | undefined; readonly atMs: number }): void {
    const { uid, resourceVersion, generation = 0 } = version;
    const write = {
      uid,
      resourceVersion,
      generation,
      object: written.object,
      order: this.mark(),
      notedAtMs: written.atMs,
    };
    const others = (this.#waiting.get(key) ?? []).filter((other) => !isSameVersion(other, version));
    // Answers may overtake each other: a change of the spec is never put behind an older one.
    const isLater = (other: OwnWrite<T>) => other.uid === uid && other.generation > generation;
    this.#waiting.set(key, [...others.filter((other) => !isLater(other)), write, ...others.filter(isLater)]);
    if (this.isOvertaken(version)) this.#reached(key, version);
  }

  /**
   * Ends the wait for a version and for what was noted before it: a list that began before them may hold the last of
   * several, and no event of the others ever comes.
   */
  #reached(key: string, version: Version): void {
    const at = this.#waiting.get(key)?.findIndex((write) => isSameVersion(write, version)) ?? -1;
    this.#keep(key, ({ uid }, index) => uid !== version.uid || index > at);
  }

  #keep(key: string, wanted: (write: OwnWrite<T>, index: number) => boolean): void {
    const left = this.#waiting.get(key)?.filter(wanted) ?? [];
    if (left.length === 0) this.#waiting.delete(key);
    else this.#waiting.set(key, left);
  }

  #remember(version: string): void {
    this.#overtaken.delete(version);
    this.#overtaken.set(version, this.#session);
    if (this.#overtaken.size <= MOST_OVERTAKEN) return;
    for (const oldest of this.#overtaken.keys()) {
      this.#overtaken.delete(oldest);
      return;
    }
  }
}

/** Whether two versions are the same one. */
export function isSameVersion(one: Version, other: Version): boolean {
  return one.uid === other.uid && one.resourceVersion === other.resourceVersion;
}
