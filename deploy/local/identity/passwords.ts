import { createHash, timingSafeEqual } from "node:crypto";
import { type Account, accountByEmail } from "./accounts.ts";

/** Who logs in with what. */
export interface Passwords {
  /** The account of that e-mail address, if the password is its own. */
  logIn(email: string, password: string): Account | undefined;
  /** Gives an account another password until the provider's end; then that of accounts.json is good again. */
  change(account: Account, password: string): void;
}

export function createPasswords(): Passwords {
  const changed = new Map<string, string>();
  return {
    logIn(email, password) {
      const account = accountByEmail(email);
      const own = account && (changed.get(account.subject) ?? account.password);
      // Compared even without an account, so that the time an answer takes does not tell which addresses exist.
      const matches = timingSafeEqual(digest(password), digest(own ?? ""));
      return account && matches ? account : undefined;
    },
    change: ({ subject }, password) => void changed.set(subject, password),
  };
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
