import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { writeWhole } from "../processes/whole-file.ts";
import { type Account, accountByEmail, localAccounts } from "./accounts.ts";

/** Passwords by e-mail address. */
export type InitialPasswords = Readonly<Record<string, string>>;

/**
 * The initial passwords: from the file, readable by its owner only, or random and then written to it. Without a file they
 * are lost at the end.
 */
export async function initialPasswords(file?: string): Promise<InitialPasswords> {
  const known: InitialPasswords = file && existsSync(file) ? JSON.parse(await readFile(file, "utf8")) : {};
  const random = () => randomBytes(12).toString("base64url");
  const all = Object.fromEntries(localAccounts.map(({ email }) => [email, known[email] ?? random()]));
  if (file) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeWhole(file, `${JSON.stringify(all, null, 2)}\n`, 0o600);
  }
  return all;
}

/** The current passwords. */
export interface Passwords {
  /** The account of that e-mail address, if the password matches. */
  logIn(email: string, password: string): Account | undefined;
  /** Changes an account's password until the provider ends; then the initial one is valid again. */
  change(account: Account, password: string): void;
}

export function createPasswords(initial: InitialPasswords): Passwords {
  const current = new Map(Object.entries(initial));
  return {
    logIn(email, password) {
      const account = accountByEmail(email);
      const own = account && current.get(account.email);
      // Compared even without an account, so that the response time does not reveal which addresses exist.
      const matches = timingSafeEqual(digest(password), digest(own ?? ""));
      return own !== undefined && matches ? account : undefined;
    },
    change: ({ email }, password) => void current.set(email, password),
  };
}

function digest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
