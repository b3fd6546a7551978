import { join } from "node:path";
import { addresses } from "../addresses.ts";
import { stateFolder } from "../site.ts";
import { keepRunning, type Part } from "./part.ts";

/** Issuer of the local cluster's tokens. */
export const localIssuer = `http://127.0.0.1:${addresses.identityProviderPort}`;

/** The identity provider. Its keys outlive the cluster, so that a token survives `make down` and `make up`. */
export const identityPart: Part = {
  name: "identity provider",
  after: [],
  start: (site) => {
    const script = join(import.meta.dirname, "../identity/serve.ts");
    const args = [script, join(stateFolder, "identity-provider")];
    return keepRunning(site, { name: "identity-provider", command: process.execPath, args }, answers);
  },
};

async function answers(): Promise<boolean> {
  const url = `${localIssuer}/.well-known/openid-configuration`;
  return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
}
