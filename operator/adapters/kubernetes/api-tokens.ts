import { TOKEN_ID_LENGTH } from "../../../crds/api-token.schema.ts";
import type { ApiToken, ApiTokenSpec } from "../../../crds/api-token.ts";
import { ClusterUnavailable } from "../../../crds/errors.ts";
import { insteadOf, isConflict, isInvalid, isNotFound } from "../../kit/client/errors.ts";
import { within } from "../../kit/time/deadline.ts";
import { tokenBucket } from "../../kit/time/rate-limits.ts";
import type { ApiTokens, AssertedClaims } from "../../ports/api-tokens.ts";
import { BY_OWNER } from "../../ports/caches.ts";
import { apiTokenType } from "./kinds.ts";
import { auditAnnotations, auditOperations, kept, type Store } from "./store.ts";
import { complete, forUser, UNAVAILABLE_RETRY_SECONDS } from "./user-request.ts";

/** A request waits for it: no answer is better than a late one. */
const READ_DEADLINE_MS = 2_000;
/** The watch delivers a new token in milliseconds; guesses must not cost as many reads. */
const UNKNOWN_READS_PER_SECOND = 5;

type Context = Store<ApiToken>;

/** ApiTokens port on the Kubernetes API and the watch cache. */
export function kubernetesApiTokens(context: Context): ApiTokens {
  const { cache, namespace, clock } = context;
  const unknownReads = tokenBucket(clock, UNKNOWN_READS_PER_SECOND);
  const known = (id: string) => cache.get(`${namespace}/${id}`);
  return {
    known,
    list: () => complete(cache).list(),
    ofOwner: (subject) => cache.by(BY_OWNER, subject),
    read: (id) => forUser(() => read(context, id)),
    async readClaimed(id) {
      if (known(id) !== undefined || unknownReads.take()) return forUser(() => read(context, id));
      // Throws before the first list, when no token may be refused as unknown.
      complete(cache);
      return undefined;
    },
    create: (spec) => forUser(() => create(context, spec)),
    revoke: (token, at) => forUser(() => revoke(context, token, at)),
    storeAssertion: (token, assertedClaims) => forUser(() => storeAssertion(context, token, assertedClaims)),
    async noteUse(token, at) {
      const value = { lastUsedAt: at.toISOString() };
      await forUser(() => change(context, token, { path: "/status", value }).catch(insteadOf(isDropped, undefined)));
    },
    remove: (token) => forUser(() => remove(context, token)),
  };
}

function read({ client, namespace, clock }: Context, name: string): Promise<ApiToken | undefined> {
  return within({ clock, deadlineMs: READ_DEADLINE_MS }, ({ signal, cutBy }) =>
    client.find(apiTokenType, { name, namespace }, { signal }).catch((cause: unknown) => {
      throw cutBy() === "deadline" ? new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS, { cause }) : cause;
    }),
  );
}

async function create({ client, cache, namespace, auditId }: Context, spec: ApiTokenSpec): Promise<ApiToken> {
  const annotations = auditAnnotations(auditId);
  const metadata = { name: spec.tokenHash.slice(0, TOKEN_ID_LENGTH), namespace, annotations };
  return kept(cache, await client.create(apiTokenType, { metadata, spec }));
}

async function revoke(context: Context, token: ApiToken, at: Date): Promise<ApiToken | undefined> {
  const { name, uid } = token.metadata;
  try {
    const more = auditOperations(token, context.auditId);
    return await change(context, token, { path: "/spec/revokedAt", value: at.toISOString(), more });
  } catch (error) {
    if (!isDropped(error)) throw error;
    const current = await read(context, name);
    if (current?.metadata.uid !== uid) return undefined;
    // The time of a revocation is immutable: it was revoked before.
    if (current.spec.revokedAt === undefined) throw error;
    return current;
  }
}

async function storeAssertion(context: Context, token: ApiToken, assertedClaims: AssertedClaims): Promise<void> {
  const { name, uid } = token.metadata;
  try {
    await change(context, token, { path: "/spec/assertedClaims", value: assertedClaims });
  } catch (error) {
    if (!isDropped(error)) throw error;
    const current = await read(context, name);
    if (current?.metadata.uid !== uid) return;
    // Nothing newer is stored, so the change is invalid rather than late.
    if (Date.parse(current.spec.assertedClaims.at) <= Date.parse(assertedClaims.at)) throw error;
  }
}

async function remove({ client, cache, namespace, deletions }: Context, token: ApiToken): Promise<void> {
  const { name, uid } = token.metadata;
  const removal = deletions.during(uid, () => client.delete(apiTokenType, { name, namespace }, { uid }));
  if ((await removal.catch(insteadOf(isConflict, undefined))) === "gone") cache.deleted(token);
}

/** Sets one field of exactly this token, over other changes: no two changes share a field. */
async function change(
  { client, cache, namespace }: Context,
  { metadata: { name, uid } }: ApiToken,
  { path, value, more = [] }: { path: string; value: unknown; more?: readonly object[] },
): Promise<ApiToken> {
  const options = path === "/status" ? { subresource: "status" } : {};
  const patch = [{ op: "test", path: "/metadata/uid", value: uid }, { op: "add", path, value }, ...more];
  return kept(cache, await client.patch(apiTokenType, { name, namespace }, patch, { as: "json", ...options }));
}

/**
 * The token is gone; or the API server finds the change invalid: another UID, or a late change, whose order it
 * enforces.
 */
const isDropped = (error: unknown) => isNotFound(error) || isInvalid(error);
