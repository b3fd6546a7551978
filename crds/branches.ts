/** A rule of a branch's name, in both languages that enforce it: CEL in the API server and this code in the facade. */
export interface BranchRule {
  /** The CEL expression over the text that `branch` names. */
  readonly cel: (branch: string) => string;
  readonly holds: (branch: string) => boolean;
  /** What is wrong when it does not hold; completes "a branch …". */
  readonly message: string;
}

/** What https://git-scm.com/docs/git-check-ref-format refuses and the pattern of a branch can't say. */
export const BRANCH_RULES: readonly BranchRule[] = [
  ...["..", "//", "/.", ".lock/"].map((part) => ({
    cel: (branch: string) => `!${branch}.contains('${part}')`,
    holds: (branch: string) => !branch.includes(part),
    message: `must not contain '${part}'`,
  })),
  ...[".lock", ".", "/"].map((ending) => ({
    cel: (branch: string) => `!${branch}.endsWith('${ending}')`,
    holds: (branch: string) => !branch.endsWith(ending),
    message: `must not end with '${ending}'`,
  })),
];

/** The first thing that is wrong with a branch's name; `undefined` when it is fine. */
export function branchProblem(branch: string): string | undefined {
  return BRANCH_RULES.find((rule) => !rule.holds(branch))?.message;
}
