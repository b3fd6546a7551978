import { Sensitive } from "../../crds/sensitive.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import { type CookieSpec, dropCookie, type Exchange, keepCookie, readCookie } from "./cookies.ts";
import type { Seal } from "./seal.ts";

/** Session of a person, sealed in the browser. */
export interface Session {
  readonly idToken: Sensitive;
  /** Refresh token; without one the session ends with the ID token. */
  readonly refreshToken: Sensitive | undefined;
  /** Latest end, whatever the issuer says. */
  readonly endsAt: Date;
}

/** Session in its sealed form. */
export interface StoredSession {
  readonly id: string;
  readonly refresh?: string;
  /** End in milliseconds since 1970. */
  readonly ends: number;
}

/** Strict: no other site can have a request made with it, not even by a link. */
const COOKIE: CookieSpec = { name: "__Host-console", sameSite: "Strict" };

/** Keeps sessions in cookies alone, so that every replica can serve them. */
export function createSessions({ seal, clock }: { readonly seal: Seal<StoredSession>; readonly clock: Clock }) {
  return {
    /** Session of a request; `undefined` without one. Throws SecretsUnavailable. */
    async read(request: Exchange["request"]): Promise<Session | undefined> {
      const stored = await seal.open(readCookie(request, COOKIE));
      if (stored === undefined || stored.ends <= clock.now().getTime()) return undefined;
      const { id, refresh, ends } = stored;
      const refreshToken = refresh === undefined ? undefined : new Sensitive(refresh);
      return { idToken: new Sensitive(id), refreshToken, endsAt: new Date(ends) };
    },

    /**
     * Has the browser keep the session.
     *
     * @returns false when it is too long
     * @throws SecretsUnavailable
     */
    async keep(exchange: Exchange, { idToken, refreshToken, endsAt }: Session): Promise<boolean> {
      const refresh = refreshToken && { refresh: refreshToken.reveal() };
      const sealed = await seal.seal({ id: idToken.reveal(), ...refresh, ends: endsAt.getTime() });
      const seconds = Math.ceil((endsAt.getTime() - clock.now().getTime()) / 1000);
      return keepCookie(exchange, COOKIE, sealed, Math.max(0, seconds));
    },

    end: (exchange: Exchange): void => dropCookie(exchange, COOKIE),
  };
}
export type Sessions = ReturnType<typeof createSessions>;
