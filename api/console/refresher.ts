import { decodeJwt } from "jose";
import { sha256 } from "../../crds/digest.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import { type ConsoleIssuer, IssuerRefused } from "./issuer.ts";
import type { Session } from "./sessions.ts";

/** Time for which a late request with the former cookie gets the new session. */
const KEPT_MS = 30_000;
/** Each takes some KiB. */
const MOST_KEPT = 2_000;

interface Refresh {
  readonly session: Promise<Session | undefined>;
  readonly begunMs: number;
}

/**
 * Refreshes each session once for simultaneous requests: many issuers take a doubly used refresh token for stolen, and
 * end the log-in.
 *
 * @returns a function that resolves to `undefined` when the person has to log in again; it throws IssuerUnusable
 */
export function createRefresher({ issuer, clock }: { readonly issuer: ConsoleIssuer; readonly clock: Clock }) {
  const refreshes = new Map<string, Refresh>();
  const forgetOld = () => {
    for (const [id, { begunMs }] of refreshes) {
      const isOld = clock.monotonicMs() - begunMs > KEPT_MS;
      if (isOld || refreshes.size >= MOST_KEPT) refreshes.delete(id);
    }
  };
  return async (session: Session): Promise<Session | undefined> => {
    const { refreshToken } = session;
    if (refreshToken === undefined) return undefined;
    forgetOld();
    const id = sha256(refreshToken.reveal(), "base64url");
    const known = refreshes.get(id);
    if (known !== undefined) return known.session;
    const refresh: Refresh = { session: followed(session, refreshToken, issuer), begunMs: clock.monotonicMs() };
    refreshes.set(id, refresh);
    // The refresh token may not have arrived: the next request tries again.
    refresh.session.catch(() => refreshes.delete(id));
    return refresh.session;
  };
}

async function followed(
  session: Session,
  refreshToken: Sensitive,
  issuer: ConsoleIssuer,
): Promise<Session | undefined> {
  try {
    const tokens = await issuer.refresh(refreshToken);
    // https://openid.net/specs/openid-connect-core-1_0.html#RefreshTokenResponse: it must be the same person.
    return subjectOf(tokens.idToken) === subjectOf(session.idToken) ? { ...tokens, endsAt: session.endsAt } : undefined;
  } catch (error) {
    if (error instanceof IssuerRefused) return undefined;
    throw error;
  }
}

const subjectOf = (idToken: Sensitive) => decodeJwt(idToken.reveal()).sub;
