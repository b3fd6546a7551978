import type { Sensitive } from "../../crds/sensitive.ts";

/** Asks the host of a git repository. */
export interface RepositoryHost {
  /**
   * The commit at the head of a branch; `undefined` when there is no such branch.
   *
   * @param credential `user:password`, sent to the host of the URL and to no other; without it the request is
   *   anonymous
   * @throws RepositoryHostUnavailable when the host can't be reached in time or refuses the question;
   *   CredentialRejected when it refuses the credential that came with it
   */
  head(cloneUrl: string, branch: string, credential?: Sensitive): Promise<string | undefined>;
}

/** The repository can't be asked now; the message says why, without credentials. */
export class RepositoryHostUnavailable extends Error {
  override readonly name = "RepositoryHostUnavailable";
}

/**
 * The host rejected this credential; the message says what to do, without the credential. Not to be retried soon: hosts
 * lock accounts after too many failed logins.
 */
export class CredentialRejected extends Error {
  override readonly name = "CredentialRejected";
}
