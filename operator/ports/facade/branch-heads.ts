import type { Repository } from "../../../crds/repository/repository.ts";

/** Asks the hosts of registered Repositories for the head of a branch, while a user waits for the answer. */
export interface BranchHeads {
  /**
   * The full SHA of the commit at the head of the branch now; `undefined` when the repository has no such branch. Only
   * the Repository's own URL is asked, with its own credential.
   *
   * @throws HostUnavailable when the host can't be asked now; SecretsUnavailable when the credential can't be read now
   */
  headOf(repository: Repository, branch: string): Promise<string | undefined>;
}
