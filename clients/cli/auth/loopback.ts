import { on, once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as oidc from "openid-client";
import { EXIT, Failure } from "../failure.ts";
import type { LoginCredential } from "./credential.ts";
import { credentialOf, discovered, type Login } from "./issuer.ts";

const DEADLINE_MS = 5 * 60_000;
const PAGE = "<!doctype html><meta charset=utf-8><title>eenv</title><p>";

interface Way {
  readonly open: (address: URL) => Promise<void>;
  readonly interrupted: AbortSignal;
}

/** Logs in with the browser of this machine, which returns to a port of it: RFC 8252 with PKCE, state and nonce. */
export async function loginByLoopback(login: Login, { open, interrupted }: Way): Promise<LoginCredential> {
  const configuration = await discovered(login);
  const { createServer } = await import("node:http");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const redirect = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  const verifier = oidc.randomPKCECodeVerifier();
  const expected = { expectedState: oidc.randomState(), expectedNonce: oidc.randomNonce(), pkceCodeVerifier: verifier };
  try {
    const parameters = {
      redirect_uri: redirect,
      scope: login.scopes.join(" "),
      state: expected.expectedState,
      nonce: expected.expectedNonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(login.scopes.includes("offline_access") && { prompt: "consent" }),
    };
    await open(oidc.buildAuthorizationUrl(configuration, parameters));
    for await (const [request, response] of requestsTo(server, interrupted)) {
      const came = new URL(request.url ?? "/", redirect);
      // Browsers ask for icons, and others may find the port.
      if (came.pathname !== "/callback" || came.searchParams.get("state") !== expected.expectedState) {
        await answer(response, 404, "There is nothing here.");
        continue;
      }
      return await exchanged({ login, configuration, expected }, came, response);
    }
    throw new Failure(EXIT.notAllowed, "the log-in was given up");
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

interface Begun {
  readonly login: Login;
  readonly configuration: oidc.Configuration;
  readonly expected: oidc.AuthorizationCodeGrantChecks;
}

async function exchanged({ login, configuration, expected }: Begun, came: URL, response: ServerResponse) {
  try {
    const tokens = await oidc.authorizationCodeGrant(configuration, came, { ...expected, idTokenExpected: true });
    const credential = credentialOf(login, tokens);
    await answer(response, 200, "You are logged in. Close this page and go on in the terminal.");
    return credential;
  } catch (error) {
    await answer(response, 400, "The log-in failed. The terminal says why.");
    if (!(error instanceof oidc.AuthorizationResponseError)) throw error;
    throw new Failure(EXIT.notAllowed, `${login.issuer} refused: ${error.error_description ?? error.error}`);
  }
}

/** Incoming requests. @throws Failure when it takes too long, or the signal's reason */
async function* requestsTo(
  server: Server,
  interrupted: AbortSignal,
): AsyncGenerator<[IncomingMessage, ServerResponse]> {
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(DEADLINE_MS)]);
  try {
    for await (const request of on(server, "request", { signal })) yield request as [IncomingMessage, ServerResponse];
  } catch (error) {
    interrupted.throwIfAborted();
    throw signal.aborted ? new Failure(EXIT.notAllowed, "there was no log-in within 5 minutes") : error;
  }
}

function answer(response: ServerResponse, status: number, text: string): Promise<void> {
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", connection: "close" };
  response.writeHead(status, { ...headers, "content-security-policy": "default-src 'none'" });
  return new Promise((sent) => response.end(`${PAGE}${text}`, sent));
}
