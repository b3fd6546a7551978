import type { Sensitive } from "../../crds/sensitive.ts";
import type { CircuitBreakerState } from "./api/platform-health.ts";
import type { Owner } from "./cluster.ts";

/** A requested value. */
export interface SecretRequest {
  readonly name: string;
  /** Exact version; versions of a variable count from 1. */
  readonly version: number;
  /** Creates a missing version. Without it, a missing value is left out of the answer. */
  readonly generate?: () => Sensitive;
}

export interface StoredSecret {
  readonly version: number;
  readonly value: Sensitive;
}

/** An owner of entries in the manager. */
export interface SecretOwner extends Owner {
  /** Creation times of its oldest and youngest entries. */
  readonly since: Date;
  readonly until: Date;
}

/** Reads values of secrets that no environment owns. */
export interface SecretReader {
  /**
   * Value of an unowned secret; the caller has checked permission by the settings or `shared`. `undefined` without such
   * a secret or version.
   *
   * @throws SecretManagerUnavailable
   */
  read(id: string, version: number | "latest"): Promise<StoredSecret | undefined>;
}

/**
 * Secret values of environments: written once per version, never changed, deleted with the environment. Every method but `close` throws SecretManagerUnavailable when the manager is unreachable or refuses us.
 */
export interface SecretManager extends SecretReader {
  /**
   * Creates missing values and returns all requested ones, by variable. An existing value wins, so that no race or
   * crash gives a version a second value.
   */
  ensure(owner: Owner, requests: readonly SecretRequest[]): Promise<ReadonlyMap<string, StoredSecret>>;
  /**
   * Removes every entry of this owner and of no other; fine when there is none.
   *
   * @param variables all that may have an entry, as far as known: a manager's list may not show the newest yet. Listed
   * entries go in any case.
   */
  remove(owner: Owner, variables: readonly string[]): Promise<void>;
  /** True when any entry of this owner is left, by a fresh read; `variables` as for `remove`. */
  holdsAny(owner: Owner, variables: readonly string[]): Promise<boolean>;
  /**
   * Labels by which the settings may share an unowned secret, in the manager's spelling; never its value; `undefined`
   * without one.
   */
  shared(id: string): Promise<{ readonly labels: Readonly<Record<string, string>> } | undefined>;
  /**
   * Unknown owners of this installation's entries: environments and API tokens (`isValueOwner`). An entry of each was
   * read, not only listed.
   */
  owners(isKnown: (uid: string) => boolean): Promise<readonly SecretOwner[]>;
  close(): Promise<void>;
}

/** The secret manager can't be used now; the message says why, without values. */
export class SecretManagerUnavailable extends Error {
  override readonly name = "SecretManagerUnavailable";
}

/** Secret managers of an installation: separate clients for the controllers and for users. */
export interface SecretManagers {
  readonly forController: SecretManager;
  readonly forApi: SecretManager;
  /** Circuit breakers in front of an external secret manager. */
  circuitBreakers(): readonly CircuitBreakerState[];
}

/** Secrets of the web console. Every method throws SecretManagerUnavailable. */
export interface ConsoleSecrets {
  /** Key of that version. A missing key of the settings' version is created, once; for other versions `undefined`. */
  key(version: number): Promise<Sensitive | undefined>;
  /** Secret of the console's client at the issuer; `undefined` for a public client. */
  clientSecret(): Promise<Sensitive | undefined>;
}
