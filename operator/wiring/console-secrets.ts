import { randomBytes } from "node:crypto";
import type { Settings } from "../../config/settings.ts";
import { PLATFORM_KEYS_OWNER } from "../../crds/notifications/extension-token.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import type { ConsoleSecrets } from "../ports/facade/console-secrets.ts";
import { type SecretManager, SecretManagerUnavailable, textOf } from "../ports/secret-manager.ts";

/** Variable of the keys in the secret manager, one per version. */
const KEY_VARIABLE = "CONSOLE_KEY";
const KEY_BYTES = 32;

/** Secrets of the console in the secret manager: its keys with the platform's own, its client's by the settings. */
export function consoleSecrets(
  { console }: Pick<Settings, "console">,
  secretManager: Pick<SecretManager, "ensure" | "read">,
): ConsoleSecrets {
  const generate = () => new Sensitive(randomBytes(KEY_BYTES).toString("base64url"));
  return {
    async key(version) {
      const isMade = version === console?.keyVersion;
      const request = { name: KEY_VARIABLE, version, ...(isMade && { generate }) };
      const stored = (await secretManager.ensure(PLATFORM_KEYS_OWNER, [request])).get(KEY_VARIABLE)?.value;
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
