import type { Issuer } from "./issuer.schema.ts";

/** Claims that are the same for all users of an issuer, or that users may choose themselves. */
const NO_PROOF: readonly string[] = ["iss", "aud", "azp", "email", "name", "preferred_username", "nickname"];

/** A field of an issuer, and what is wrong with it. */
type Problem = readonly [field: string, message: string];

/** What is wrong with issuers that are well-formed one by one, each problem with its place in the settings. */
export function issuerProblems(issuers: readonly Issuer[]): string[] {
  return issuers.flatMap((issuer, at) =>
    [...ownProblems(issuer), ...problemsBeside(issuer, issuers.slice(0, at), issuers.length)].map(
      ([field, message]) => `/api/issuers/${at}/${field}: ${message}`,
    ),
  );
}

function ownProblems({ requiredClaims, defaultRole }: Issuer): Problem[] {
  const claims = Object.keys(requiredClaims);
  const useless = claims.filter((claim) => NO_PROOF.includes(claim));
  return [
    ...useless.map((claim): Problem => ["requiredClaims", `'${claim}' does not tell your users from others`]),
    ...(defaultRole !== undefined && claims.length === 0 ? [OPEN_TO_ALL] : []),
  ];
}

const OPEN_TO_ALL: Problem = [
  "defaultRole",
  "needs requiredClaims (a hosted domain, a tenant or a group): a public issuer's users are everybody",
];

/** Resources name groups, and not whose: with several issuers the prefix keeps their groups apart. */
function problemsBeside({ issuer, groupsPrefix }: Issuer, earlier: readonly Issuer[], count: number): Problem[] {
  const isRepeated = earlier.some((other) => other.issuer === issuer);
  const isTaken = earlier.some((other) => other.groupsPrefix === groupsPrefix);
  return [
    ...(isRepeated ? [["issuer", "is there twice"] as const] : []),
    ...(count > 1 && groupsPrefix === undefined ? [MIXED_GROUPS] : []),
    ...(groupsPrefix !== undefined && isTaken ? [["groupsPrefix", "is another issuer's"] as const] : []),
  ];
}

const MIXED_GROUPS: Problem = [
  "groupsPrefix",
  "is required beside other issuers: a group of the same name would otherwise have the rights of theirs",
];
