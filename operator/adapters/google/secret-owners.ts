import { eachOf } from "../../kit/time/each-of.ts";
import type { Owner } from "../../ports/cluster.ts";
import { SecretManagerUnavailable, type SecretOwner } from "../../ports/secret-manager.ts";
import type { GoogleCalls, GoogleSecret } from "./secret-calls.ts";

/** Label keys and values allow no dots or slashes there; annotations repeat them, and decide. */
export const UID = "environment-uid";
export const NAME = "environment";

/** Share of Google's 600 reads a minute for verifying lists. */
const MOST_LOOKS = 300;
const LOOKS_AT_ONCE = 8;

interface Entry {
  readonly owner: Owner;
  readonly madeAt: Date;
  readonly secret: GoogleSecret;
}

/** Cache of verified entries. */
export type Candidates = ReturnType<typeof createCandidates>;

/** Remembers the verified existence of entries, for as long as lists show them. */
export function createCandidates() {
  const isThere = new Map<string, boolean>();

  return {
    /** Remembers a deleted entry, in the version of a fresh read. */
    deleted(entry: GoogleSecret): void {
      isThere.set(identityOf(entry), false);
    },
    /**
     * Owners of listed entries that the caller does not know. Lists show deleted entries for a while: so each entry is
     * read once before it counts.
     *
     * @throws SecretManagerUnavailable when more is listed than can be read now; the next call continues
     */
    async owners(calls: GoogleCalls, listed: readonly GoogleSecret[], isKnown: (uid: string) => boolean) {
      const shown = new Set(listed.map(identityOf));
      for (const identity of isThere.keys()) if (!shown.has(identity)) isThere.delete(identity);
      let looks = 0;
      const exists = async (entry: GoogleSecret) => {
        const identity = identityOf(entry);
        const known = isThere.get(identity);
        if (known !== undefined) return known;
        looks += 1;
        if (looks > MOST_LOOKS)
          throw new SecretManagerUnavailable("Google Secret Manager lists too much to look at it now");
        const found = await calls.find(entry.name ?? "");
        const isFound = found !== undefined && identityOf(found) === identity;
        isThere.set(identity, isFound);
        return isFound;
      };
      const entries = listed.flatMap(entryOf).filter(({ owner }) => !isKnown(owner.uid));
      const byOwner = Map.groupBy(entries, ({ owner }) => owner.uid);
      const held = await eachOf(LOOKS_AT_ONCE, [...byOwner.values()], async (theirs) => {
        for (const { secret } of theirs) if (await exists(secret)) return [heldOwner(theirs)];
        return [];
      });
      return held.flat();
    },
  };
}

/** Differs for an entry recreated under its id. */
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

function heldOwner(entries: readonly Entry[]): SecretOwner {
  const times = entries.map(({ madeAt }) => madeAt.getTime());
  const [first] = entries as [Entry];
  return { ...first.owner, since: new Date(Math.min(...times)), until: new Date(Math.max(...times)) };
}
