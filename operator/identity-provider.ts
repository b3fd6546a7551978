import { readFileSync } from "node:fs";
import type { Settings } from "../config/settings.ts";
import { Sensitive } from "../crds/sensitive.ts";
import { googleIdentityProvider } from "./adapters/google-identity-provider.ts";
import { localIdentityProvider } from "./adapters/local-identity-provider.ts";
import { persistentIdentityProvider } from "./adapters/persistent-identity-provider.ts";
import type { Clock } from "./kit/clock.ts";
import type { IdentityProvider } from "./ports/identity-provider.ts";

type Choice = NonNullable<Settings["api"]["identityProvider"]>;

/** The identity provider of the settings, if they name one; fails when the file of its key can't be read. */
export function identityProviderOf({ api }: Settings, clock: Clock): IdentityProvider | undefined {
  return api.identityProvider && persistentIdentityProvider(chosen(api.identityProvider), clock);
}

function chosen(choice: Choice): IdentityProvider {
  if (choice.kind === "local") return localIdentityProvider(choice.url);
  const { kind: _, apiKeyFile, ...project } = choice;
  return googleIdentityProvider({ ...project, apiKey: new Sensitive(readFileSync(apiKeyFile, "utf8").trim()) });
}
