/** The number of UIDs that are remembered; older deletions are finished by then. */
const REMEMBERED = 10_000;

/** The objects that this process has deleted; an object itself does not show who deleted it. */
export interface OwnDeletions {
  /** Remembers the object before `removal` is called, and forgets it when that rejects, as it must for a refusal. */
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
