import { eachOf } from "../../kit/time/each-of.ts";
import type { Owner } from "../../ports/cluster.ts";
import { type HeldOwner, SecretManagerUnavailable } from "../../ports/secret-manager.ts";
import type { GoogleCalls, GoogleSecret } from "./secret-calls.ts";

/** Label keys and values have no dots and slashes there; annotations say the same, and decide. */
export const UID = "environment-uid";
export const NAME = "environment";

/** Of Google's 600 reads a minute, so many at most for finding out whether a list is right. */
const MOST_LOOKS = 300;
const LOOKS_AT_ONCE = 8;

/** An entry of a list that says whose it is. */
interface Entry {
  readonly owner: Owner;
  readonly madeAt: Date;
  readonly secret: GoogleSecret;
}

/** What is known of the entries that lists show. */
export type Candidates = ReturnType<typeof createCandidates>;

/** Whether entries are there, as far as it was found out; for as long as lists show them. */
export function createCandidates() {
  const isThere = new Map<string, boolean>();

  /** Reads entries that were not read before, a bounded number of them. */
  function looking(calls: GoogleCalls): (entry: GoogleSecret) => Promise<boolean> {
    let looks = 0;
    return async (entry) => {
      const identity = identityOf(entry);
      const known = isThere.get(identity);
      if (known !== undefined) return known;
      looks += 1;
      if (looks > MOST_LOOKS)
        throw new SecretManagerUnavailable("Google Secret Manager lists too much to look at it now");
      const found = await calls.find(entry.name ?? "");
      isThere.set(identity, found !== undefined && identityOf(found) === identity);
      return isThere.get(identity) === true;
    };
  }

  return {
    /** Remembers that the entry, as a fresh read showed it, was deleted. */
    deleted(entry: GoogleSecret): void {
      isThere.set(identityOf(entry), false);
    },
    /**
     * Whose entries there are, of what a list shows, beside those whom the caller knows. Lists show for a while what is
     * gone: so each entry is read once before it counts.
     *
     * @throws SecretManagerUnavailable when more is listed than can be read now; the next call goes on from there
     */
    async owners(
      calls: GoogleCalls,
      listed: readonly GoogleSecret[],
      isKnown: (uid: string) => boolean,
    ): Promise<HeldOwner[]> {
      const shown = new Set(listed.map(identityOf));
      for (const identity of isThere.keys()) if (!shown.has(identity)) isThere.delete(identity);
      const look = looking(calls);
      const entries = listed.flatMap(entryOf).filter(({ owner }) => !isKnown(owner.uid));
      const byOwner = Map.groupBy(entries, ({ owner }) => owner.uid);
      const held = await eachOf(LOOKS_AT_ONCE, [...byOwner.values()], async (theirs) => {
        for (const { secret } of theirs) if (await look(secret)) return [heldOwner(theirs)];
        return [];
      });
      return held.flat();
    },
  };
}

/** Tells an entry from one that was made again under its id. */
function identityOf({ name, createTime }: GoogleSecret): string {
  return `${name} ${createTime?.seconds}.${createTime?.nanos}`;
}

/** The caller may delete the entries of these owners: an incomplete entry has none. */
function entryOf(secret: GoogleSecret): Entry[] {
  const { annotations, labels, createTime } = secret;
  const { [UID]: uid, [NAME]: name } = annotations ?? {};
  if (uid === undefined || name === undefined || labels?.[UID] !== uid || !createTime?.seconds) return [];
  return [{ owner: { name, uid }, madeAt: new Date(Number(createTime.seconds) * 1000), secret }];
}

function heldOwner(entries: readonly Entry[]): HeldOwner {
  const times = entries.map(({ madeAt }) => madeAt.getTime());
  const [first] = entries as [Entry];
  return { ...first.owner, since: new Date(Math.min(...times)), until: new Date(Math.max(...times)) };
}
