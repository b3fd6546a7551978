import { sha256 } from "../../crds/digest.ts";
import type { Log } from "../../operator/kit/log.ts";
import type { IdentityProvider } from "../../operator/ports/api/identity-provider.ts";
import { HttpError } from "../errors.ts";

/** Passes requests for a new password to the identity provider, whatever its answers. */
export interface PasswordResets {
  /**
   * Accepts a request and returns at once: neither answer nor time shows that the account exists, or is at its limit of
   * mails.
   *
   * @throws HttpError (unavailable) without a provider, or while too many requests wait, for every address alike
   */
  request(email: string): Promise<void>;
  /** Resolves when no request is waiting. */
  idle(): Promise<void>;
}

interface PasswordResetParts {
  /** Undefined without a provider that sends such links. */
  readonly identityProvider?: IdentityProvider | undefined;
  readonly settings: { readonly api: { readonly limits: { readonly passwordResetsPerHour: number } } };
  readonly log: Log;
  /** Aborts waiting requests. */
  readonly stopping: AbortSignal;
}

const MOST_WAITING = 100;
const HOUR = { retryAfterSeconds: 3600 };

/** @param hourlyCount counts a key's requests in this hour, with this one: it limits mails per address */
export function createPasswordResets(
  { identityProvider, settings, log, stopping }: PasswordResetParts,
  hourlyCount: (key: string) => Promise<number>,
): PasswordResets {
  const perHour = settings.api.limits.passwordResetsPerHour;
  const waiting = new Set<Promise<void>>();

  async function passOn(provider: IdentityProvider, email: string): Promise<void> {
    try {
      if ((await hourlyCount(keyOf(email))) > perHour) return;
      await provider.sendPasswordReset(email, stopping);
    } catch (error) {
      // The address stays out of the log: it is private.
      log.error("a password reset was not sent", { error });
    }
  }

  return {
    async request(email) {
      if (identityProvider === undefined)
        throw new HttpError("unavailable", "No identity provider that resets passwords is set up", HOUR);
      if (waiting.size >= MOST_WAITING)
        throw new HttpError("unavailable", "Too many requests are waiting; try again later", { retryAfterSeconds: 60 });
      // Before any wait, so that simultaneous requests are all counted.
      const passing = passOn(identityProvider, email).finally(() => waiting.delete(passing));
      waiting.add(passing);
    },
    async idle() {
      await Promise.all(waiting);
    },
  };
}

/**
 * Keys of one length. Guessed addresses can be found in the counters; but those live an hour, and only the platform
 * reads them.
 */
const keyOf = (email: string) => sha256(email.toLowerCase());
