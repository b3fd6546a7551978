import { ConfigInvalid, HostUnavailable, type Violation } from "../../../crds/errors.ts";
import type { Component } from "../../../crds/names.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { Services } from "../../services.ts";

/** SHA-1's digits, or SHA-256's. */
const FULL_SHA = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

type HeadServices = Pick<Services, "branchHeads" | "log">;

/** Requested source of one component; the commit as sent, empty: the latest. */
export interface RequestedSource {
  readonly component: Component;
  readonly repository: Repository;
  readonly branch: string;
  readonly commit: string;
}

/**
 * Full SHA, in lower case, of every requested commit. A short one is compared only with its branch's head: other
 * commits of a repository (tags, pull requests of strangers) could be made to begin with the same digits.
 *
 * @throws ConfigInvalid that names every short SHA that is not the head's; HostUnavailable, SecretsUnavailable
 */
export async function fullCommits(
  sources: readonly RequestedSource[],
  services: HeadServices,
): Promise<{ readonly [component in Component]?: string }> {
  const named = sources.filter(({ commit }) => commit !== "");
  const settled = await Promise.all(
    named.map(async (source) => [source.component, await fullCommit(source, services)] as const),
  );
  const violations = settled.flatMap(([, commit]) => (typeof commit === "string" ? [] : [commit]));
  if (violations.length > 0) throw new ConfigInvalid(violations);
  return Object.fromEntries(settled);
}

/** Full SHA of one requested commit, or its violation. @throws HostUnavailable, SecretsUnavailable */
export async function fullCommit(source: RequestedSource, services: HeadServices): Promise<string | Violation> {
  const { component, branch, commit } = source;
  const digits = commit.toLowerCase();
  if (FULL_SHA.test(digits)) return digits;
  const head = await headOf(source, services);
  if (head?.startsWith(digits)) return head;
  const message = `is not the beginning of the commit at the head of '${branch}': send the full commit SHA`;
  return { field: `${component}_commit`, message };
}

/** Head of the branch; `undefined` without such a branch. @throws HostUnavailable, SecretsUnavailable */
export function headOf(
  { repository, branch }: RequestedSource,
  { branchHeads, log }: HeadServices,
): Promise<string | undefined> {
  return branchHeads.headOf(repository, branch).catch((error: unknown) => {
    if (error instanceof HostUnavailable) {
      const facts = { repository: repository.metadata.name };
      log.warn("the head of a branch could not be read", { ...facts, error: error.cause });
    }
    throw error;
  });
}
