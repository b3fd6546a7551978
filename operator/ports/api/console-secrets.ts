import type { Sensitive } from "../../../crds/sensitive.ts";

/** Secrets of the web console. Every method throws SecretManagerUnavailable. */
export interface ConsoleSecrets {
  /** Key of that version. A missing key of the settings' version is created, once; for other versions `undefined`. */
  key(version: number): Promise<Sensitive | undefined>;
  /** Secret of the console's client at the issuer; `undefined` for a public client. */
  clientSecret(): Promise<Sensitive | undefined>;
}
