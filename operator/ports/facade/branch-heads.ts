import type { Repository } from "../../../crds/repository/repository.ts";

/** Asks hosts for the head of a branch, while a user waits. */
export interface BranchHeads {
  /**
   * Full SHA of the branch's head; `undefined` when the repository has no such branch. Contacts only the Repository's
   * own URL, with its own credential.
   *
   * @throws HostUnavailable when the host is unreachable; SecretsUnavailable when the credential can't be read
   */
  headOf(repository: Repository, branch: string): Promise<string | undefined>;
}
