import type { Sensitive } from "../../crds/sensitive.ts";

/** Asks the host of a git repository. */
export interface RepositoryHost {
  /**
   * The commit at the head of a branch; `undefined` when there is no such branch.
   *
   * @param credential `user:password`, sent to the host of the URL and to no other; without it the host is asked as by
   *   anybody
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
 * The host did not let in who came with this credential; the message says what to do, without the credential. Not to be
 * tried again soon: hosts lock out who comes with a bad login too often.
 */
export class CredentialRejected extends Error {
  override readonly name = "CredentialRejected";
}
