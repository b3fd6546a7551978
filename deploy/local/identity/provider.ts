import { once } from "node:events";
import { appendFile, mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { Provider } from "oidc-provider";
import { toolClientId } from "./clients.ts";
import { configuration } from "./configuration.ts";
import { interact, interactionFailed, isInteraction } from "./interaction.ts";
import { consoleSecret, providerKeys } from "./keys.ts";
import { addPasswordGrant, passwordGrant } from "./password-grant.ts";
import { isPasswordReset, type Mail, passwordReset } from "./password-reset.ts";
import { createPasswords, type InitialPasswords, initialPasswords } from "./passwords.ts";

/** Options of the identity provider. */
export interface IdentityProviderOptions {
  /** Loopback port; 0 takes a free one. */
  readonly port: number;
  /** True: tokens for e-mail and password, without a browser. Default false. */
  readonly passwordGrant?: boolean;
  /** Origin of the web console, such as `http://localhost:8080`; absent: no console. */
  readonly consoleOrigin?: string;
  /** Folder of keys, passwords and written mails. Without one, tokens are worthless after a restart. */
  readonly stateDir?: string;
}

/** A running identity provider. */
export interface IdentityProvider {
  /** The `iss` of its tokens; `<issuer>/.well-known/openid-configuration` has the rest. */
  readonly issuer: string;
  /** The `aud` of its tools' tokens. */
  readonly clientId: string;
  /** The secret of the console's client; with a folder, also in `console-secret` there. */
  readonly consoleSecret: string;
  /** The accounts' passwords; with a folder, also in `passwords.json` there. */
  readonly passwords: InitialPasswords;
  /** The mails written since the start. */
  readonly mails: readonly Mail[];
  close(): Promise<void>;
}

/**
 * Starts an OpenID Connect provider on loopback with the accounts of accounts.json: authorization code with PKCE and log-in
 * pages, device flow, refresh, log-out, optional password grant, and a password reset.
 *
 * ID tokens carry `sub`, `email`, `name`, `groups` and `hd` (the domain of all accounts) and are valid for an hour. Fails
 * when the port is taken.
 */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const { port, stateDir, consoleOrigin, passwordGrant: hasPasswordGrant = false } = options;
  const keys = await providerKeys(stateDir);
  const initial = await initialPasswords(stateDir && join(stateDir, "passwords.json"));
  const secret = await consoleSecret(stateDir);
  const server = createServer();
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(
    issuer,
    configuration(keys, {
      ...(hasPasswordGrant && { moreGrants: [passwordGrant] }),
      ...(consoleOrigin !== undefined && { console: { origin: consoleOrigin, secret } }),
    }),
  );
  const passwords = createPasswords(initial);
  if (hasPasswordGrant) addPasswordGrant(provider, passwords);
  provider.on("server_error", (_context, error) => console.error("a request failed", error));
  const { mails, deliver } = mailbox(stateDir && join(stateDir, "mails.jsonl"));
  const resets = passwordReset(issuer, passwords, deliver);
  const protocol = provider.callback();
  server.on("request", (request, response) => {
    const failed = (error: unknown) => interactionFailed(response, error);
    if (isPasswordReset(request)) void resets(request, response);
    else if (isInteraction(request)) interact({ provider, passwords }, request, response).catch(failed);
    else void protocol(request, response);
  });
  return {
    issuer,
    clientId: toolClientId,
    consoleSecret: secret,
    passwords: initial,
    mails,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Keeps the mails that nothing can send: in memory and, one JSON object a line, in the file. */
function mailbox(file?: string) {
  const mails: Mail[] = [];
  return {
    mails: mails as readonly Mail[],
    async deliver(mail: Mail): Promise<void> {
      mails.push(mail);
      if (file === undefined) return;
      await mkdir(dirname(file), { recursive: true });
      await appendFile(file, `${JSON.stringify(mail)}\n`, { mode: 0o600 });
    },
  };
}
