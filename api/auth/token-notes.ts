import type { ApiToken } from "../../crds/api-token.ts";
import type { ApiTokens, Vouched } from "../../operator/ports/api-tokens.ts";
import type { Clock } from "../../operator/ports/clock.ts";
import type { Log } from "../../operator/ports/log.ts";
import { type Caller, vouchedOf } from "./callers.ts";

/** How exactly it is noted when a token was used last. */
const USE_MS = 60_000;
/** How often it is noted that an owner is still there of whom nothing else is new. */
const VOUCH_MS = 86_400_000;
/** After a failure. */
const RETRY_MS = 10_000;

/** What is written of API tokens beside the requests that give cause for it: no request waits, and none fails by it. */
export interface TokenNotes {
  /** The owner was here with an ID token: what it says of them holds for their API tokens from now on. */
  ownerSeen(caller: Caller): void;
  /** The token was used. */
  used(token: ApiToken): void;
}

interface Context {
  readonly apiTokens: Pick<ApiTokens, "known" | "ofOwner" | "vouch" | "noteUse">;
  readonly clock: Clock;
  readonly log: Log;
}

export function tokenNotes({ apiTokens, clock, log }: Context): TokenNotes {
  const write = oneAtATime(clock, log);
  return {
    ownerSeen(caller) {
      const vouched = vouchedOf(caller);
      for (const token of apiTokens.ofOwner(caller.subject)) {
        if (!isNews(token, vouched)) continue;
        write(`vouch ${token.metadata.name}`, () => apiTokens.vouch(token, vouched));
      }
    },
    used(token) {
      // The one that was verified may be a second older than what was written since.
      const { status } = apiTokens.known(token.metadata.name) ?? token;
      const lastMs = Date.parse(status?.lastUsedAt ?? "");
      if (Math.abs(clock.now().getTime() - lastMs) < USE_MS) return;
      write(`use ${token.metadata.name}`, () => apiTokens.noteUse(token, clock.now()));
    },
  };
}

/** Other groups and claims count at once, the same ones once a day; an older ID token says nothing. */
function isNews({ spec }: ApiToken, vouched: Vouched): boolean {
  const newerMs = Date.parse(vouched.at) - Date.parse(spec.vouched.at);
  if (spec.revokedAt !== undefined || newerMs < 0) return false;
  return newerMs >= VOUCH_MS || said(spec.vouched) !== said(vouched);
}

/** Groups are sorted; claims come back from the API server in an order of its own. */
const said = ({ groups, claims = {} }: Vouched) => JSON.stringify([groups, Object.entries(claims).sort()]);

/** Writes in the background: never twice at once under a key, and for a while not again after a failure. */
function oneAtATime(clock: Clock, log: Log): (key: string, write: () => Promise<void>) => void {
  const notBeforeMs = new Map<string, number>();
  return (key, write) => {
    if ((notBeforeMs.get(key) ?? Number.NEGATIVE_INFINITY) > clock.monotonicMs()) return;
    notBeforeMs.set(key, Number.POSITIVE_INFINITY);
    write().then(
      () => notBeforeMs.delete(key),
      (error: unknown) => {
        notBeforeMs.set(key, clock.monotonicMs() + RETRY_MS);
        log.warn("an API token could not be brought up to date", { token: key, error });
      },
    );
  };
}
