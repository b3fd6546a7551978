import { EXIT, Failure, misuse } from "../failure.ts";
import { platformUrl } from "./addresses.ts";
import { bearerOf, type Credential, isFresh, isToken, type LoginCredential } from "./credential.ts";
import { type CredentialStore, credentialStore } from "./credential-store.ts";

/** Which platform is spoken to, and as whom. `EENV_URL` and `EENV_TOKEN` win over what `eenv login` remembered. */
export interface Accounts {
  readonly store: CredentialStore;
  /** The platform's URL. @throws Failure (misuse) when nothing says it */
  url(): string;
  /** What the next request is sent with, renewed where that is due. @throws Failure (not allowed) when there is none */
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

/** The text without the line end of a file. @throws Failure (not allowed) when no platform has given it out */
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
 * One process at a time: where refresh tokens are rotated, one that is used twice ends the session. Who waited finds what
 * the other has renewed.
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
