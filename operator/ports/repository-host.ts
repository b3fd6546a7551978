import type { Repository } from "../../crds/repository/repository.ts";
import type { Sensitive } from "../../crds/sensitive.ts";

/** Host of a git repository. */
export interface RepositoryHost {
  /**
   * Commit at the head of a branch; `undefined` without such a branch.
   *
   * @param credential `user:password`, sent only to the URL's host; absent: anonymous
   * @throws RepositoryHostUnavailable when the host is unreachable or refuses; CredentialRejected when it refuses the
   * credential
   */
  head(cloneUrl: string, branch: string, credential?: Sensitive): Promise<string | undefined>;
}

/** Files of git repositories. */
export interface RepositoryFiles {
  /**
   * Content of a file of at most 1 MiB, without a clone.
   *
   * @param credential as for RepositoryHost
   * @throws FileUnreadable; RepositoryHostUnavailable and CredentialRejected as there
   */
  file(cloneUrl: string, file: RepositoryFile, credential?: Sensitive): Promise<Buffer>;
}

/** A file in a repository. */
export interface RepositoryFile {
  /** Full SHA. */
  readonly commit: string;
  /** Relative to the repository, such as `seed/data.sql`. */
  readonly path: string;
}

/**
 * The file can't be had from that commit, at any time. `absent`: there is none; `unsuitable`: it is too large, or not in git
 * itself, or its host gives no single files. The message is a clause about the repository.
 */
export class FileUnreadable extends Error {
  override readonly name = "FileUnreadable";
  readonly reason: "absent" | "unsuitable";

  constructor(reason: FileUnreadable["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The repository can't be read now; the message says why, without credentials. */
export class RepositoryHostUnavailable extends Error {
  override readonly name = "RepositoryHostUnavailable";
}

/**
 * The host rejected the credential; the message names the remedy, without the credential. Don't retry soon: hosts lock
 * accounts after too many failed logins.
 */
export class CredentialRejected extends Error {
  override readonly name = "CredentialRejected";
}

/** Heads of branches, for a user who waits: with the Repository's own credential, from its own URL alone. */
export interface BranchHeads {
  /**
   * Full SHA of the branch's head; `undefined` when the repository has no such branch.
   *
   * @throws HostUnavailable when the host is unreachable; SecretsUnavailable when the credential can't be read
   */
  headOf(repository: Repository, branch: string): Promise<string | undefined>;
}
