import { HostUnavailable } from "../../../../crds/errors.ts";
import type { BranchHeads } from "../../../../operator/ports/repository-host.ts";

export interface MemoryBranchHeads extends BranchHeads {
  /** Requests, as `<repository>@<branch>`. */
  readonly requested: readonly string[];
  /** Puts a commit at the head of a branch. */
  push(repository: string, branch: string, commit: string): void;
  setReachable(reachable: boolean): void;
}

/** Hosts with the branches that a test has pushed. */
export function memoryBranchHeads(): MemoryBranchHeads {
  const heads = new Map<string, string>();
  const requests: string[] = [];
  let isReachable = true;
  return {
    requested: requests,
    async headOf({ metadata: { name } }, branch) {
      requests.push(`${name}@${branch}`);
      if (!isReachable) throw new HostUnavailable(name, 5);
      return heads.get(`${name}@${branch}`);
    },
    push: (repository, branch, commit) => void heads.set(`${repository}@${branch}`, commit),
    setReachable(reachable) {
      isReachable = reachable;
    },
  };
}
