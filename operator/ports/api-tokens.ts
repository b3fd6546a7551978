import type { ApiToken, ApiTokenSpec } from "../../crds/api-token.ts";

/** What an identity provider said of an owner, and when. */
export type Vouched = ApiTokenSpec["vouched"];

/**
 * The API tokens, as far as they are known: hashes, owners and scopes, never the tokens.
 *
 * What is not said to be live comes from this process's cache, which never shows an older version than a write that this
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
   * The same where only a credential claims that there is such a token. Ids that the watch does not know (another replica
   * may have made it a moment ago) are asked for a few times a second: guesses beyond that are taken for nobody's.
   */
  readClaimed(id: string): Promise<ApiToken | undefined>;

  /** Makes the resource, named by the hash. */
  create(spec: ApiTokenSpec): Promise<ApiToken>;

  /** Revokes it for good; one that is revoked keeps its moment. `undefined` when it is gone. */
  revoke(token: ApiToken, at: Date): Promise<ApiToken | undefined>;

  /** Notes what the identity provider says of the owner. What is older than what is known, or of one that is gone, is dropped. */
  vouch(token: ApiToken, vouched: Vouched): Promise<void>;

  /** Notes that it was used; of one that is gone nothing is noted. */
  noteUse(token: ApiToken, at: Date): Promise<void>;

  /** Removes exactly this one; one that is gone is fine. */
  remove(token: ApiToken): Promise<void>;
}
