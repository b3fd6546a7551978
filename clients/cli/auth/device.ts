import * as oidc from "openid-client";
import { EXIT, Failure } from "../failure.ts";
import { plainLine } from "../output/plain.ts";
import type { LoginCredential } from "./credential.ts";
import { credentialOf, discovered, type Login } from "./issuer.ts";

interface Way {
  readonly say: (line: string) => void;
  readonly interrupted: AbortSignal;
}

/** Logs in with a browser on any machine, where the user enters a code: RFC 8628. */
export async function loginByDevice(login: Login, { say, interrupted }: Way): Promise<LoginCredential> {
  const configuration = await discovered(login);
  const begun = await oidc.initiateDeviceAuthorization(configuration, { scope: login.scopes.join(" ") });
  say(`Open ${plainLine(begun.verification_uri)} and enter the code ${plainLine(begun.user_code)}`);
  say("Go on only if you began this log-in yourself, in this terminal.");
  try {
    const tokens = await oidc.pollDeviceAuthorizationGrant(configuration, begun, undefined, { signal: interrupted });
    return credentialOf(login, tokens);
  } catch (error) {
    interrupted.throwIfAborted();
    if (!(error instanceof oidc.ResponseBodyError)) throw error;
    throw new Failure(EXIT.notAllowed, `${login.issuer} refused: ${error.error_description ?? error.error}`);
  }
}
