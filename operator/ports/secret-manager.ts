import type { SecretRef } from "../../crds/environment/overrides.schema.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import type { Owner } from "./cluster.ts";
import type { CircuitBreakerState } from "./facade/platform-health.ts";

/** A value that is wanted. */
export interface SecretRequest {
  /** The variable that the pods see. */
  readonly name: string;
  /** The version to have, exactly; the versions of a variable count from 1. */
  readonly version: number;
  /** Makes the value when there is none of that version. Without it, an absent value is left out of the answer. */
  readonly generate?: () => Sensitive;
}

export interface StoredSecret {
  readonly version: number;
  readonly value: Sensitive;
}

/** An owner of entries in the manager. */
export interface HeldOwner extends Owner {
  /** When the oldest and the youngest of its entries were made. */
  readonly since: Date;
  readonly until: Date;
}

/**
 * Keeps the secret values of environments: written once a version, never changed, gone with the environment.
 *
 * Every method but `close` throws SecretManagerUnavailable when the manager can't be reached or refuses us.
 */
export interface SecretManager {
  /**
   * Creates what is absent and returns what was asked for, by variable. A value that is there always wins over a new
   * one, so that two reconciles, two leaders or a crash between two writes can never give a version a second value.
   */
  ensure(owner: Owner, requests: readonly SecretRequest[]): Promise<ReadonlyMap<string, StoredSecret>>;

  /**
   * Removes every entry of this owner and of no other; nothing there is fine.
   *
   * @param variables all that may have an entry, as far as the caller knows: a manager's own list may not show yet what
   *   was made a moment ago. What is listed goes in any case.
   */
  remove(owner: Owner, variables: readonly string[]): Promise<void>;

  /** Whether any entry of this owner is left, read afresh; `variables` as for `remove`. */
  holdsAny(owner: Owner, variables: readonly string[]): Promise<boolean>;

  /**
   * What the settings may share a secret by that no environment owns, in the spelling of the manager, and never its value;
   * `undefined` when there is none.
   */
  shared(id: string): Promise<{ readonly labels: Readonly<Record<string, string>> } | undefined>;

  /**
   * A value of a secret that no environment owns. The caller has checked by the settings or by `shared` that it may be
   * read: the owner is not checked again. `undefined` when there is no such secret or version.
   */
  read(id: string, version: number | "latest"): Promise<StoredSecret | undefined>;

  /**
   * The owners of entries that this installation made, environments and API tokens (`isValueOwner`), without those that
   * the caller knows. Of each an entry was read, not only listed.
   */
  owners(isKnown: (uid: string) => boolean): Promise<readonly HeldOwner[]>;

  /** Ends its connections. */
  close(): Promise<void>;
}

/**
 * The text of a secret that a reference of settings or of a Repository names, without the line break that editors and shells
 * add; `undefined` when there is none. Whether it may be read is the caller's question.
 *
 * @throws SecretManagerUnavailable
 */
export async function textOf(
  { name, key }: SecretRef,
  secretManager: Pick<SecretManager, "read">,
): Promise<Sensitive | undefined> {
  const stored = await secretManager.read(name, key === "latest" ? key : Number(key));
  return stored && new Sensitive(stored.value.reveal().replace(/\r?\n$/, ""));
}

/** The secret manager can't be used now; the message says why, without values. */
export class SecretManagerUnavailable extends Error {
  override readonly name = "SecretManagerUnavailable";
}

/** The one secret manager of an installation, apart for the controllers and for what users wait for. */
export interface SecretManagers {
  readonly forController: SecretManager;
  readonly forApi: SecretManager;
  /** Those in front of a secret manager that is a service elsewhere. */
  circuitBreakers(): readonly CircuitBreakerState[];
}
