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

/** Where the identity provider listens and what it keeps. */
export interface IdentityProviderOptions {
  /** Loopback port; 0 takes a free one. */
  readonly port: number;
  /** Whether e-mail and password alone, without a browser, are good for tokens. Default false. */
  readonly passwordGrant?: boolean;
  /** Where the web console is, as an origin, such as `http://localhost:8080`; there is none unless said. */
  readonly consoleOrigin?: string;
  /** Folder of its keys, its passwords and the mails it writes. Without one, tokens are worthless after a restart. */
  readonly stateDir?: string;
}

/** A running identity provider. */
export interface IdentityProvider {
  /** The `iss` of its tokens; `<issuer>/.well-known/openid-configuration` tells the rest. */
  readonly issuer: string;
  /** The `aud` of the tokens that its tools get. */
  readonly clientId: string;
  /** The secret of the console's client; with a folder, also in `console-secret` there. */
  readonly consoleSecret: string;
  /** The accounts' passwords; with a folder, also in `passwords.json` there. */
  readonly passwords: InitialPasswords;
  /** The mails that it wrote since it was started, as nothing here can send one. */
  readonly mails: readonly Mail[];
  close(): Promise<void>;
}

/**
 * Starts a standard OpenID Connect provider on loopback with the accounts of accounts.json: authorization code with
 * PKCE and log-in pages, device flow, refresh, log-out, password where asked for; and a way to set a new password.
 *
 * ID tokens carry `sub`, `email`, `name`, `groups` and `hd` (the domain of all accounts) and live for an hour. Fails when the port is taken.
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

/** Where mails end up that nothing can send: in memory and, one JSON object a line, in the file. */
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
