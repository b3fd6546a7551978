import { readFileSync } from "node:fs";
import { join } from "node:path";

/** An account of the local identity provider. */
export interface Account {
  /** The `sub` of its tokens; never changes. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  /** Groups that settings map to roles (`platform-developers` …; without one: developer), and teams. */
  readonly groups: readonly string[];
}

/** The accounts of accounts.json: one of each role, and a developer of another team. */
export const localAccounts: readonly Account[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "accounts.json"), "utf8"),
);

/** The domain of all accounts, also in the claim `hd` of their tokens, as Google's for a company. */
export const accountDomain = "example.test";

/** The account with that e-mail address; letter case does not matter. */
export function accountByEmail(email: string): Account | undefined {
  return localAccounts.find((account) => account.email === email.toLowerCase());
}

/** The account of a token's `sub`. */
export function accountBySubject(subject: string): Account | undefined {
  return localAccounts.find((account) => account.subject === subject);
}
