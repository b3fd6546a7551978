import { createHash } from "node:crypto";
import type { IdentityProvider } from "../../operator/ports/facade/identity-provider.ts";
import type { Log } from "../../operator/ports/log.ts";
import { HttpError } from "../http-error.ts";

/** Passes wishes for a new password on to the identity provider, beside the answers to those who wish. */
export interface PasswordResets {
  /**
   * Takes a wish and returns at once: neither the answer nor its time tells whether there is such an account, or whether
   * the address had its share of mails.
   *
   * @throws Refusal (unavailable) when no provider is configured, or too many wishes wait for theirs: for every address alike
   */
  request(email: string): Promise<void>;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

interface Parts {
  /** Undefined: this installation has none that sends such links. */
  readonly provider: IdentityProvider | undefined;
  /** Counts the wishes for a key in this hour, with this one. */
  readonly tally: (key: string) => Promise<number>;
  /** How many of them an e-mail address may get. */
  readonly perHour: number;
  readonly log: Log;
  /** Ends whatever still waits. */
  readonly stopping: AbortSignal;
}

const MOST_WAITING = 100;
const HOUR = { retryAfterSeconds: 3600 };

export function createPasswordResets({ provider, tally, perHour, log, stopping }: Parts): PasswordResets {
  const waiting = new Set<Promise<void>>();

  async function passOn(identityProvider: IdentityProvider, email: string): Promise<void> {
    try {
      if ((await tally(keyOf(email))) > perHour) return;
      await identityProvider.sendPasswordReset(email, stopping);
    } catch (error) {
      // The address stays out of the log: who asks for a new password is nobody's business.
      log.error("a password reset was not sent", { error });
    }
  }

  return {
    async request(email) {
      if (provider === undefined)
        throw new HttpError("unavailable", "No identity provider that resets passwords is set up", HOUR);
      if (waiting.size >= MOST_WAITING) throw new HttpError("unavailable", "Too many wait", { retryAfterSeconds: 60 });
      // It waits from here on: wishes that come at the same moment are as many.
      const passing = passOn(provider, email).finally(() => waiting.delete(passing));
      waiting.add(passing);
    },
    async idle() {
      await Promise.all(waiting);
    },
  };
}

/**
 * A key of one length for every address. It hides none from somebody who can read the counters and guess addresses: they
 * live an hour, where the platform alone may read.
 */
const keyOf = (email: string) => createHash("sha256").update(email.toLowerCase()).digest("hex");
