import { join } from "node:path";
import { answersWell } from "../../build/wait.ts";
import { identityFolder } from "../folders.ts";
import { localIssuer } from "../network/addresses.ts";
import { keepRunning } from "../processes/process.ts";
import type { UnbuiltComponent } from "./component.ts";

/** The identity provider. */
export const identityComponent: UnbuiltComponent = {
  name: "identity provider",
  after: [],
  needsBuild: false,
  start: (site) => keepIdentityProvider(site.folder),
};

/**
 * Keeps the identity provider running, with its log and its record in that folder. Its keys and passwords outlive the
 * cluster, so that a token survives `make down` and `make up`. With PASSWORD_GRANT=on it accepts e-mail and password without
 * a browser, too.
 */
export function keepIdentityProvider(folder: string): Promise<void> {
  const script = join(import.meta.dirname, "../identity/serve.ts");
  const args = [script, identityFolder, ...(process.env.PASSWORD_GRANT === "on" ? ["--password-grant"] : [])];
  return keepRunning(folder, { name: "identity-provider", command: process.execPath, args }, () =>
    answersWell(`${localIssuer}/.well-known/openid-configuration`),
  );
}
