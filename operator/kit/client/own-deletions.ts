/** So many UIDs are remembered; what was deleted before is gone by then. */
const REMEMBERED = 10_000;

/** The objects that this process has asked the API server to delete: nothing on an object says who did. */
export interface OwnDeletions {
  /** Remembers the object before `removal` asks, and forgets it when that rejects, as it must for every refusal. */
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
