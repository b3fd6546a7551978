import { TOKEN_ID_LENGTH } from "../../../crds/api-token.schema.ts";
import type { ApiToken } from "../../../crds/api-token.ts";
import { ClusterUnavailable } from "../../../crds/errors.ts";
import { insteadOf, isInvalid, isNotFound } from "../../kit/client/errors.ts";
import { within } from "../../kit/time/deadline.ts";
import { tokenBucket } from "../../kit/time/rate-limits.ts";
import type { ApiTokens, AssertedClaims } from "../../ports/api-tokens.ts";
import { BY_OWNER } from "../../ports/caches.ts";
import { apiTokenType } from "./kinds.ts";
import { auditAnnotations, auditOperations, kept, removeExactly, type Store, sameObject } from "./store.ts";
import { complete, forUser, UNAVAILABLE_RETRY_SECONDS } from "./user-request.ts";

/** A request waits for it: no answer is better than a late one. */
const READ_DEADLINE_MS = 2_000;
/** The watch delivers a new token in milliseconds; guesses must not cost as many reads. */
const UNKNOWN_READS_PER_SECOND = 5;

/** ApiTokens port on the Kubernetes API and the watch cache. */
export function kubernetesApiTokens(store: Store<ApiToken>): ApiTokens {
  const { client, cache, namespace, clock, auditId } = store;
  const unknownReads = tokenBucket(clock, UNKNOWN_READS_PER_SECOND);
  const known = (id: string) => cache.get(`${namespace}/${id}`);
  return {
    known,
    list: () => complete(cache).list(),
    ofOwner: (subject) => cache.by(BY_OWNER, subject),
    read: (id) => forUser(() => read(store, id)),
    async readClaimed(id) {
      if (known(id) !== undefined || unknownReads.take()) return forUser(() => read(store, id));
      // Throws before the first list, when no token may be refused as unknown.
      complete(cache);
      return undefined;
    },
    create: (spec) =>
      forUser(async () => {
        const name = spec.tokenHash.slice(0, TOKEN_ID_LENGTH);
        const metadata = { name, namespace, annotations: auditAnnotations(auditId) };
        return kept(cache, await client.create(apiTokenType, { metadata, spec }));
      }),
    revoke: (token, at) => forUser(() => revoke(store, token, at)),
    storeAssertion: (token, assertedClaims) => forUser(() => storeAssertion(store, token, assertedClaims)),
    async noteUse(token, at) {
      const value = { lastUsedAt: at.toISOString() };
      await forUser(() => change(store, token, { path: "/status", value }).catch(insteadOf(isDropped, undefined)));
    },
    remove: (token) => forUser(() => removeExactly(store, apiTokenType, token)),
  };
}

function read({ client, namespace, clock }: Store<ApiToken>, name: string): Promise<ApiToken | undefined> {
  return within({ clock, deadlineMs: READ_DEADLINE_MS }, ({ signal, cutBy }) =>
    client.find(apiTokenType, { name, namespace }, { signal }).catch((cause: unknown) => {
      throw cutBy() === "deadline" ? new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS, { cause }) : cause;
    }),
  );
}

async function revoke(store: Store<ApiToken>, token: ApiToken, at: Date): Promise<ApiToken | undefined> {
  const more = auditOperations(token, store.auditId);
  try {
    return await change(store, token, { path: "/spec/revokedAt", value: at.toISOString(), more });
  } catch (error) {
    const current = await afterDropped(store, token, error);
    // The time of a revocation is immutable: it was revoked before.
    if (current !== undefined && current.spec.revokedAt === undefined) throw error;
    return current;
  }
}

async function storeAssertion(store: Store<ApiToken>, token: ApiToken, assertedClaims: AssertedClaims): Promise<void> {
  try {
    await change(store, token, { path: "/spec/assertedClaims", value: assertedClaims });
  } catch (error) {
    const current = await afterDropped(store, token, error);
    // Nothing newer is stored, so the change is invalid rather than late.
    if (current !== undefined && Date.parse(current.spec.assertedClaims.at) <= Date.parse(assertedClaims.at))
      throw error;
  }
}

/** Sets one field of exactly this token, over other changes: no two changes share a field. */
async function change(
  { client, cache }: Store<ApiToken>,
  { metadata }: ApiToken,
  { path, value, more = [] }: { path: string; value: unknown; more?: readonly object[] },
): Promise<ApiToken> {
  const options = path === "/status" ? { subresource: "status" } : {};
  const patch = [sameObject(metadata), { op: "add", path, value }, ...more];
  return kept(cache, await client.patch(apiTokenType, metadata, patch, { as: "json", ...options }));
}

/** The token as it is after a dropped change; `undefined` when it is gone. @throws any other failure */
async function afterDropped(store: Store<ApiToken>, { metadata }: ApiToken, failure: unknown) {
  if (!isDropped(failure)) throw failure;
  const current = await read(store, metadata.name);
  return current?.metadata.uid === metadata.uid ? current : undefined;
}

/** The token is gone, or the change is invalid: another UID, or a late change, whose order the API server enforces. */
const isDropped = (error: unknown) => isNotFound(error) || isInvalid(error);
