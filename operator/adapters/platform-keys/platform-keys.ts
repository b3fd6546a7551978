/** Secrets of the platform itself, in the secret manager. */
import { randomBytes } from "node:crypto";
import type { Settings } from "../../../config/settings.ts";
import { EXTENSION_KEY_VARIABLE, PLATFORM_KEYS_OWNER } from "../../../crds/notifications/extension-token.ts";
import { textOf } from "../../../crds/secret-text.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import {
  type ConsoleSecrets,
  type SecretManager,
  SecretManagerUnavailable,
  type SecretRequest,
} from "../../ports/secret-manager.ts";

const KEY_BYTES = 32;
/** Variable of the console's keys, one per version. */
const CONSOLE_KEY_VARIABLE = "CONSOLE_KEY";

const generate = () => new Sensitive(randomBytes(KEY_BYTES).toString("base64url"));

/**
 * Signing key of links in expiry warnings: created once per installation, read once per process.
 *
 * @returns a function that throws SecretManagerUnavailable
 */
export function extensionKeyOf(secretManager: SecretManager): () => Promise<Sensitive> {
  let known: Sensitive | undefined;
  return async () => {
    known ??= await key(secretManager, { name: EXTENSION_KEY_VARIABLE, version: 1, generate });
    if (known === undefined) throw new SecretManagerUnavailable("the platform's key is not there yet");
    return known;
  };
}

/** Secrets of the console: its keys, and the settings' secret of its client. */
export function consoleSecrets({ console }: Pick<Settings, "console">, secretManager: SecretManager): ConsoleSecrets {
  return {
    async key(version) {
      const isMade = version === console?.keyVersion;
      const request = { name: CONSOLE_KEY_VARIABLE, version, ...(isMade && { generate }) };
      const stored = await key(secretManager, request);
      if (stored === undefined && isMade) throw new SecretManagerUnavailable("the console's key is not there yet");
      return stored;
    },
    async clientSecret() {
      if (console?.clientSecret === undefined) return undefined;
      const secret = await textOf(console.clientSecret, secretManager);
      if (secret !== undefined) return secret;
      throw new SecretManagerUnavailable(`there is no secret '${console.clientSecret.name}' for the console's client`);
    },
  };
}

async function key(secretManager: SecretManager, request: SecretRequest): Promise<Sensitive | undefined> {
  return (await secretManager.ensure(PLATFORM_KEYS_OWNER, [request])).get(request.name)?.value;
}
