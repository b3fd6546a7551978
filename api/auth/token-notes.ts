import type { ApiToken } from "../../crds/api-token.ts";
import { DAY_MS } from "../../crds/durations.ts";
import type { Log } from "../../operator/kit/log.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { ApiTokens, AssertedClaims } from "../../operator/ports/api-tokens.ts";
import type { Services } from "../services.ts";
import type { Caller } from "./access.ts";
import { assertedClaimsOf } from "./callers.ts";

/** Precision of the time of a token's last use. */
const USE_MS = 60_000;
/** Time until unchanged facts about an owner are written again. */
const ASSERTION_MS = DAY_MS;
const RETRY_MS = 10_000;

interface Context extends Pick<Services, "clock" | "log"> {
  readonly apiTokens: ApiTokens;
}

/** Writes API tokens in the background: requests neither wait for it nor fail with it. */
export function tokenNotes({ apiTokens, clock, log }: Context) {
  const write = oneAtATime(clock, log);
  return {
    /** Copies an owner's groups and claims from an ID token to the API tokens. */
    ownerSeen(caller: Caller): void {
      const assertedClaims = assertedClaimsOf(caller);
      for (const token of apiTokens.ofOwner(caller.subject)) {
        if (!hasChanged(token, assertedClaims)) continue;
        write(`store the assertion of ${token.metadata.name}`, () => apiTokens.storeAssertion(token, assertedClaims));
      }
    },
    used(token: ApiToken): void {
      // The verified copy may be a second older than the cached one.
      const { status } = apiTokens.known(token.metadata.name) ?? token;
      const lastMs = Date.parse(status?.lastUsedAt ?? "");
      if (Math.abs(clock.now().getTime() - lastMs) < USE_MS) return;
      write(`use ${token.metadata.name}`, () => apiTokens.noteUse(token, clock.now()));
    },
  };
}

/** Changed groups and claims are written at once, unchanged ones once a day; an older ID token is ignored. */
function hasChanged({ spec }: ApiToken, assertedClaims: AssertedClaims): boolean {
  const newerMs = Date.parse(assertedClaims.at) - Date.parse(spec.assertedClaims.at);
  if (spec.revokedAt !== undefined || newerMs < 0) return false;
  return newerMs >= ASSERTION_MS || said(spec.assertedClaims) !== said(assertedClaims);
}

/** Groups are sorted; the API server returns claims in its own order. */
const said = ({ groups, claims = {} }: AssertedClaims) => JSON.stringify([groups, Object.entries(claims).sort()]);

/** Allows one write at a time under a key, with a pause after a failure. */
function oneAtATime(clock: Clock, log: Log): (key: string, write: () => Promise<void>) => void {
  const notBeforeMs = new Map<string, number>();
  return (key, write) => {
    if ((notBeforeMs.get(key) ?? Number.NEGATIVE_INFINITY) > clock.monotonicMs()) return;
    notBeforeMs.set(key, Number.POSITIVE_INFINITY);
    write().then(
      () => notBeforeMs.delete(key),
      (error: unknown) => {
        notBeforeMs.set(key, clock.monotonicMs() + RETRY_MS);
        log.warn("an API token could not be updated", { token: key, error });
      },
    );
  };
}
