import type { ApiToken, ApiTokenSpec } from "../../crds/api-token.ts";

/** What the identity provider said about an owner, and when. */
export type Vouched = ApiTokenSpec["vouched"];

/**
 * The API tokens, as far as they are known: hashes, owners and scopes, never the tokens.
 *
 * Reads that are not marked as live come from this process's cache, which never shows an older version than a write that this
 * process answered. What talks to the Kubernetes API throws ClusterUnavailable when it can't be reached.
 */
export interface ApiTokens {
  /** All of them, in no order; an array of its own. Throws ClusterUnavailable before the first list. */
  list(): ApiToken[];

  /** Those of one owner, by subject. */
  ofOwner(subject: string): readonly ApiToken[];

  /** By its id, as the watch saw it last; a revocation that is seen here is final. */
  known(id: string): ApiToken | undefined;

  /** By its id, live, within two seconds. */
  read(id: string): Promise<ApiToken | undefined>;

  /**
   * The same for an id that only a credential claims to exist. Ids that the watch does not know (another replica may have
   * made the token a moment ago) are read a few times a second at most; beyond that they count as unknown.
   */
  readClaimed(id: string): Promise<ApiToken | undefined>;

  /** Makes the resource, named by the hash. */
  create(spec: ApiTokenSpec): Promise<ApiToken>;

  /** Revokes it for good; one that is revoked keeps its moment. `undefined` when it is gone. */
  revoke(token: ApiToken, at: Date): Promise<ApiToken | undefined>;

  /** Stores what the identity provider says about the owner, unless something newer is stored or the token is gone. */
  vouch(token: ApiToken, vouched: Vouched): Promise<void>;

  /** Stores that the token was used, unless it is gone. */
  noteUse(token: ApiToken, at: Date): Promise<void>;

  /** Removes exactly this one; one that is gone is fine. */
  remove(token: ApiToken): Promise<void>;
}
