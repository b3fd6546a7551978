import type { Sensitive } from "../../../crds/sensitive.ts";

/** The secrets of the web console. Every method throws SecretManagerUnavailable. */
export interface ConsoleSecrets {
  /**
   * The key of that version; the version of the settings is made when there is none, and never a second time. `undefined` for
   * another version that was never made.
   */
  key(version: number): Promise<Sensitive | undefined>;
  /** The secret of the console's client at the issuer; `undefined` for a public client. */
  clientSecret(): Promise<Sensitive | undefined>;
}
