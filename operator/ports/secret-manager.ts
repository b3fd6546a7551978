import type { Sensitive } from "../../crds/sensitive.ts";

/** Whose secrets: the UID decides, the name makes ids readable. */
export interface SecretOwner {
  readonly name: string;
  readonly uid: string;
}

/** A value to have: what `generate` makes is kept only when the manager has none yet. */
export interface SecretRequest {
  /** The variable that the pods see. */
  readonly name: string;
  readonly generate: () => Sensitive;
}

export interface StoredSecret {
  readonly version: number;
  readonly value: Sensitive;
}

/**
 * Keeps the secret values of environments: written once, never changed, gone with the environment.
 *
 * Every method throws SecretManagerUnavailable when the manager can't be reached or refuses us.
 */
export interface SecretManager {
  /**
   * Creates what is absent and returns everything asked for. A value that is there always wins over a new one, so
   * that two passes, two leaders or a crash between two writes can never give an environment a second value.
   */
  ensure(owner: SecretOwner, requests: readonly SecretRequest[]): Promise<ReadonlyMap<string, StoredSecret>>;

  /** Removes every entry of this owner and of no other; nothing there is fine. */
  remove(owner: SecretOwner): Promise<void>;

  /** Whether any entry of this owner is left, read afresh. */
  holdsAny(owner: SecretOwner): Promise<boolean>;
}

/** The secret manager can't be used now; the message says why, without values. */
export class SecretManagerUnavailable extends Error {
  override readonly name = "SecretManagerUnavailable";
}
