import { EXIT, Failure, misuse } from "../failure.ts";
import { platformUrl } from "./addresses.ts";
import { bearerOf, type Credential, isFresh, isToken, type LoginCredential } from "./credential.ts";
import { type CredentialStore, credentialStore } from "./credential-store.ts";

/**
 * Address of the platform and credentials for it. `EENV_URL` and `EENV_TOKEN` precede the stored ones of `eenv login`.
 */
export interface Accounts {
  readonly store: CredentialStore;
  /** URL of the platform. @throws Failure (misuse) without one */
  url(): string;
  /** Token for the next request, renewed if due. @throws Failure (not allowed) without one */
  token(): Promise<string>;
}

export function accountsOf(env: NodeJS.ProcessEnv, say: (line: string) => void): Accounts {
  const store = credentialStore(env, say);
  let known: Credential | undefined;
  const url = () => {
    const named = env.EENV_URL ? platformUrl(env.EENV_URL) : store.current();
    if (named === undefined) throw misuse("where is the platform? Set EENV_URL, or run: eenv login --url https://…");
    return named;
  };
  return {
    store,
    url,
    async token() {
      if (env.EENV_TOKEN) return tokenOf(env.EENV_TOKEN);
      if (known === undefined || !isFresh(known)) known = await freshCredential(store, url());
      return bearerOf(known);
    },
  };
}

/** Trims the line end of a file. @throws Failure (not allowed) when no platform can have issued it */
function tokenOf(text: string): string {
  const token = text.trim();
  if (!isToken(token)) throw new Failure(EXIT.notAllowed, "EENV_TOKEN is not a token");
  return token;
}

async function freshCredential(store: CredentialStore, url: string): Promise<Credential> {
  const found = await store.read(url);
  if (found === undefined)
    throw new Failure(EXIT.notAllowed, `not logged in to ${url}: run eenv login, or set EENV_TOKEN`);
  return isFresh(found) ? found : renewed(store, url);
}

/**
 * One process at a time: where refresh tokens are rotated, a second use ends the session. A process that waited finds
 * the renewed one.
 */
function renewed(store: CredentialStore, url: string): Promise<Credential> {
  return store.alone(async () => {
    const found = await store.read(url);
    if (found !== undefined && isFresh(found)) return found;
    const login = found as LoginCredential | undefined;
    if (login?.refreshToken === undefined) {
      throw new Failure(EXIT.notAllowed, `the log-in at ${url} has expired: run eenv login`);
    }
    const { renew } = await import("./issuer.ts");
    const fresh = await renew(login, login.refreshToken);
    await store.write(url, fresh);
    return fresh;
  });
}
