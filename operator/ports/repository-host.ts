/** Asks the host of a git repository. */
export interface RepositoryHost {
  /**
   * The commit at the head of a branch; `undefined` when there is no such branch.
   *
   * @throws RepositoryHostUnavailable when the host can't be reached in time or refuses the question
   */
  head(cloneUrl: string, branch: string): Promise<string | undefined>;
}

/** The repository can't be asked now; the message says why, without credentials. */
export class RepositoryHostUnavailable extends Error {
  override readonly name = "RepositoryHostUnavailable";
}
