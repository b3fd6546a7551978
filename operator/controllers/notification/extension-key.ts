import { randomBytes } from "node:crypto";
import { EXTENSION_KEY_VARIABLE, PLATFORM_KEYS_OWNER } from "../../../crds/notifications/extension-token.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { type SecretManager, SecretManagerUnavailable } from "../../ports/secret-manager.ts";

const KEY_BYTES = 32;

/**
 * Signing key of links in expiry warnings: created once per installation, kept in the secret manager, read once per
 * process.
 *
 * @returns a function that throws SecretManagerUnavailable
 */
export function extensionKeyOf(secretManager: Pick<SecretManager, "ensure">): () => Promise<Sensitive> {
  const generate = () => new Sensitive(randomBytes(KEY_BYTES).toString("base64url"));
  let known: Sensitive | undefined;
  return async () => {
    if (known !== undefined) return known;
    const request = { name: EXTENSION_KEY_VARIABLE, version: 1, generate };
    const stored = await secretManager.ensure(PLATFORM_KEYS_OWNER, [request]);
    known = stored.get(EXTENSION_KEY_VARIABLE)?.value;
    if (known === undefined) throw new SecretManagerUnavailable("the platform's key is not there yet");
    return known;
  };
}
