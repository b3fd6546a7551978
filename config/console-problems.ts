import type { Console } from "./console.schema.ts";
import type { Issuer } from "./issuer.schema.ts";

interface Around {
  readonly baseDomain: string;
  readonly api: { readonly issuers: readonly Issuer[] };
}

/** Problems of a console that is well-formed by itself, each with its place in the settings. */
export function consoleProblems(console: Console | undefined, around: Around): string[] {
  if (console === undefined) return [];
  const { issuers } = around.api;
  const issuer = issuerOfConsole(console, issuers);
  return [
    ...hostProblems(console, around),
    ...(issuer === undefined ? [unknownIssuer(console, issuers.length)] : clientProblems(console, issuer)),
  ];
}

/** Issuer for log-ins at the console; `undefined` where the settings name none, or one that is not trusted. */
function issuerOfConsole({ issuer }: Console, issuers: readonly Issuer[]): Issuer | undefined {
  if (issuer !== undefined) return issuers.find((one) => one.issuer === issuer);
  return issuers.length === 1 ? issuers[0] : undefined;
}

function unknownIssuer({ issuer }: Console, count: number): string {
  if (issuer !== undefined) return `/console/issuer: '${issuer}' is none of api.issuers`;
  return count === 0
    ? "/console: needs an issuer, at which people log in: add one to api.issuers"
    : "/console/issuer: is required where there are several issuers";
}

/** An environment could otherwise have the console's host, or set cookies for it. */
function hostProblems({ publicUrl }: Console, { baseDomain }: Around): string[] {
  const { hostname } = new URL(publicUrl);
  const isTaken = hostname === baseDomain || hostname.endsWith(`.${baseDomain}`);
  return isTaken
    ? [`/console/publicUrl: '${hostname}' belongs to environments: name a host that is neither baseDomain nor below it`]
    : [];
}

/** Parameters that protect a log-in, or have a setting. */
const OWN_PARAMETERS: readonly string[] = [
  "client_id",
  "code_challenge",
  "code_challenge_method",
  "nonce",
  "redirect_uri",
  "request",
  "request_uri",
  "response_mode",
  "response_type",
  "scope",
  "state",
];

/** Tokens are for the client that requested them. */
function clientProblems({ clientId, scopes, authorizationParameters }: Console, { audience }: Issuer): string[] {
  const taken = Object.keys(authorizationParameters).filter((name) => OWN_PARAMETERS.includes(name));
  return [
    ...taken.map((name) => `/console/authorizationParameters: '${name}' is the platform's own`),
    ...([audience].flat().includes(clientId)
      ? []
      : [`/console/clientId: '${clientId}' is no audience of its issuer: tokens for it would be refused`]),
    ...(scopes.includes("openid") ? [] : ["/console/scopes: without 'openid' an issuer gives no ID token"]),
  ];
}
