import { readFileSync } from "node:fs";
import type { Settings } from "../../config/settings.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import { googleIdentityProvider } from "../adapters/google/identity-provider.ts";
import { retryingIdentityProvider } from "../adapters/identity-provider/call.ts";
import { localIdentityProvider } from "../adapters/identity-provider/local.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { IdentityProvider } from "../ports/facade/identity-provider.ts";

type Choice = NonNullable<Settings["api"]["identityProvider"]>;

/** Only what a header can carry: a client that refuses a header repeats it in its error. */
const KEY_SHAPE = /^[\w-]{1,256}$/;

/** Identity provider of the settings, if any; fails when its key file is unreadable or empty. */
export function identityProviderOf({ api }: Settings, clock: Clock): IdentityProvider | undefined {
  return api.identityProvider && retryingIdentityProvider(chosen(api.identityProvider), clock);
}

function chosen(choice: Choice): IdentityProvider {
  if (choice.kind === "local") return localIdentityProvider(choice.url);
  const { kind: _, apiKeyFile, ...project } = choice;
  return googleIdentityProvider({ ...project, apiKey: keyOf(apiKeyFile) });
}

function keyOf(file: string): Sensitive {
  const key = readFileSync(file, "utf8").trim();
  if (KEY_SHAPE.test(key)) return new Sensitive(key);
  throw new Error("api.identityProvider.apiKeyFile holds no API key: letters, digits, - and _ on one line");
}
