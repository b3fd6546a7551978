import { randomUUID } from "node:crypto";
import { TOKEN_ID_LENGTH } from "../../../../crds/api-token.schema.ts";
import type { ApiToken, ApiTokenSpec } from "../../../../crds/api-token.ts";
import { ClusterUnavailable } from "../../../../crds/errors.ts";
import type { Clock } from "../../../../operator/kit/time/clock.ts";
import type { ApiTokens } from "../../../../operator/ports/api-tokens.ts";
import { kubernetesTime } from "./environments.ts";

const UNAVAILABLE_RETRY_SECONDS = 5;

export interface MemoryApiTokens extends ApiTokens {
  /** Ends or restores the connection to the cluster; the watched state stays. */
  setReachable(reachable: boolean): void;
  /** Hides or shows others' changes from the watch. */
  setWatching(watching: boolean): void;
  elsewhere(token: ApiToken, spec: Partial<ApiTokenSpec>): void;
  /** The ids of all live reads so far. */
  readonly reads: readonly string[];
  /** The kinds of all changes so far. */
  readonly writes: readonly string[];
}

/** API tokens without a cluster; fulfils `apiTokensSuite`. */
export function memoryApiTokens(clock: Pick<Clock, "now">): MemoryApiTokens {
  const stored = new Map<string, ApiToken>();
  let seen: ReadonlyMap<string, ApiToken> = stored;
  const reads: string[] = [];
  const writes: string[] = [];
  let version = 1;
  let isReachable = true;

  const reach = () => {
    if (!isReachable) throw new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS);
  };
  const keep = (token: Omit<ApiToken, "metadata"> & { metadata: Omit<ApiToken["metadata"], "resourceVersion"> }) => {
    version += 1;
    const kept = structuredClone({ ...token, metadata: { ...token.metadata, resourceVersion: String(version) } });
    stored.set(kept.metadata.name, kept);
    return kept;
  };
  const current = ({ metadata: { name, uid } }: ApiToken) => {
    const found = stored.get(name);
    return found?.metadata.uid === uid ? found : undefined;
  };
  /** A process sees its own writes. */
  const written = (token: ApiToken) => {
    if (seen !== stored) seen = new Map([...seen, [token.metadata.name, token]]);
    return token;
  };
  const change = (what: string, token: ApiToken, changed: (found: ApiToken) => Partial<ApiToken> | undefined) => {
    reach();
    const found = current(token);
    const parts = found && changed(found);
    if (found === undefined || parts === undefined) return found;
    writes.push(what);
    return written(keep({ ...found, ...parts }));
  };

  const read = async (id: string) => {
    reads.push(id);
    reach();
    return structuredClone(stored.get(id));
  };

  return {
    reads,
    writes,
    known: (id) => seen.get(id),
    list: () => [...seen.values()],
    ofOwner: (subject) => [...seen.values()].filter(({ spec }) => spec.owner.subject === subject),
    read,
    readClaimed: read,
    async create(spec) {
      reach();
      const name = spec.tokenHash.slice(0, TOKEN_ID_LENGTH);
      const creationTimestamp = kubernetesTime(clock.now());
      const metadata = { name, namespace: "ephemeral-system", uid: randomUUID(), creationTimestamp };
      writes.push("create");
      return written(keep({ apiVersion: "ephemeral-environments.dev/v1", kind: "ApiToken", metadata, spec }));
    },
    async revoke(token, at) {
      return change("revoke", token, ({ spec }) =>
        spec.revokedAt === undefined ? { spec: { ...spec, revokedAt: at.toISOString() } } : undefined,
      );
    },
    async storeAssertion(token, assertedClaims) {
      change("storeAssertion", token, ({ spec }) =>
        Date.parse(assertedClaims.at) < Date.parse(spec.assertedClaims.at)
          ? undefined
          : { spec: { ...spec, assertedClaims } },
      );
    },
    async noteUse(token, at) {
      change("note use", token, () => ({ status: { lastUsedAt: at.toISOString() } }));
    },
    async remove(token) {
      reach();
      if (current(token) === undefined) return;
      stored.delete(token.metadata.name);
      seen = new Map([...seen].filter(([name]) => name !== token.metadata.name));
      if (seen.size === stored.size) seen = stored;
    },
    setReachable: (reachable) => {
      isReachable = reachable;
    },
    setWatching: (watching) => {
      seen = watching ? stored : new Map(stored);
    },
    elsewhere: (token, spec) => {
      const found = current(token);
      if (found !== undefined) keep({ ...found, spec: { ...found.spec, ...spec } });
    },
  };
}
