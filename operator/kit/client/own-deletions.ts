/** Remembered UIDs; older deletions are finished. */
const REMEMBERED = 10_000;

/** Objects that this process deleted; an object does not show its deleter. */
export interface OwnDeletions {
  /** Remembers the object before `removal` is called; forgets it when that rejects. */
  during<T>(uid: string, removal: () => Promise<T>): Promise<T>;
  has(uid: string): boolean;
}

export function ownDeletions(): OwnDeletions {
  const uids = new Set<string>();
  return {
    async during(uid, removal) {
      uids.add(uid);
      const [oldest = ""] = uids;
      if (uids.size > REMEMBERED) uids.delete(oldest);
      try {
        return await removal();
      } catch (error) {
        uids.delete(uid);
        throw error;
      }
    },
    has: (uid) => uids.has(uid),
  };
}
