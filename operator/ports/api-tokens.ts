import type { ApiToken, ApiTokenSpec } from "../../crds/api-token.ts";

/** Dated statement of the identity provider about an owner. */
export type AssertedClaims = ApiTokenSpec["assertedClaims"];

/** Looks up the token of a credential. May throw ClusterUnavailable. */
export interface ApiTokenReader {
  /** The token by id, from the watch; a revocation seen here is final. */
  known(id: string): ApiToken | undefined;
  /**
   * The token by an id that only a credential claims, live, within two seconds. Ids unknown to the watch (perhaps
   * another replica's new token) are read a few times a second; beyond that they count as unknown.
   */
  readClaimed(id: string): Promise<ApiToken | undefined>;
}

/**
 * Stored API tokens: hashes, owners and scopes, never the tokens.
 *
 * Reads come from this process's cache unless marked live, and never miss its own writes. Calls to the Kubernetes API
 * may throw ClusterUnavailable.
 */
export interface ApiTokens extends ApiTokenReader {
  /** All tokens, unordered, in a new array. Throws ClusterUnavailable before the first list. */
  list(): ApiToken[];
  /** Tokens of one owner, by subject. */
  ofOwner(subject: string): readonly ApiToken[];
  /** The token by id, live, within two seconds. */
  read(id: string): Promise<ApiToken | undefined>;
  /** Creates the resource, named by the hash. */
  create(spec: ApiTokenSpec): Promise<ApiToken>;
  /** Revokes the token for good; a revoked one keeps its moment. `undefined` when it is gone. */
  revoke(token: ApiToken, at: Date): Promise<ApiToken | undefined>;
  /** Stores the identity provider's statement about the owner, unless a newer one is stored or the token is gone. */
  storeAssertion(token: ApiToken, assertedClaims: AssertedClaims): Promise<void>;
  /** Stores a use of the token, unless it is gone. */
  noteUse(token: ApiToken, at: Date): Promise<void>;
  /** Deletes exactly this token; fine when it is gone. */
  remove(token: ApiToken): Promise<void>;
}
