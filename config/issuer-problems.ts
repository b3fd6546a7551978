import type { Issuer } from "./issuer.schema.ts";

/** Claims that are the same for all users of an issuer, or that users may choose themselves. */
const NO_PROOF: readonly string[] = ["iss", "aud", "azp", "email", "name", "preferred_username", "nickname"];

/** Problems of issuers that are well-formed one by one, each with its place in the settings. */
export function issuerProblems(issuers: readonly Issuer[]): string[] {
  return issuers.flatMap((issuer, at) =>
    [...problemsOf(issuer, issuers.slice(0, at), issuers.length), ...commandLineProblems(issuer)].map(
      (problem) => `/api/issuers/${at}/${problem}`,
    ),
  );
}

/** Tokens are for the client that requested them: https://openid.net/specs/openid-connect-core-1_0.html#IDToken */
function commandLineProblems(issuer: Issuer): string[] {
  if (issuer.commandLine === undefined) return [];
  const { clientId, scopes } = issuer.commandLine;
  return [
    ...([issuer.audience].flat().includes(clientId)
      ? []
      : [`commandLine/clientId: '${clientId}' is no audience: tokens for it would be refused`]),
    ...(scopes.includes("openid") ? [] : ["commandLine/scopes: without 'openid' an issuer gives no ID token"]),
  ];
}

function problemsOf(
  { issuer, requiredClaims, defaultRole, groupsPrefix }: Issuer,
  earlier: readonly Issuer[],
  count: number,
): string[] {
  const claims = Object.keys(requiredClaims);
  const isTaken = groupsPrefix !== undefined && earlier.some((other) => other.groupsPrefix === groupsPrefix);
  const checks: [isBroken: boolean, problem: string][] = [
    ...claims.map((claim): [boolean, string] => [
      NO_PROOF.includes(claim),
      `requiredClaims: '${claim}' does not tell your users from others`,
    ]),
    [
      defaultRole !== undefined && claims.length === 0,
      "defaultRole: needs requiredClaims (a hosted domain, a tenant or a group): a public issuer's users are everybody",
    ],
    [earlier.some((other) => other.issuer === issuer), "issuer: is there twice"],
    [
      // Resources name groups without their issuer: with several issuers the prefix keeps their groups apart.
      count > 1 && groupsPrefix === undefined,
      "groupsPrefix: is required beside other issuers: a group of the same name would otherwise have the rights of theirs",
    ],
    [isTaken, "groupsPrefix: is another issuer's"],
  ];
  return checks.flatMap(([isBroken, problem]) => (isBroken ? [problem] : []));
}
