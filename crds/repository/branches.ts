import { Type } from "typebox";
import type { CelRule } from "../schema.ts";

/**
 * Valid branch names: git's, without those that mislead readers.
 *
 * The pattern keeps options (`--upload-pack`), refspecs and globs out of git command lines; it is ASCII, which every
 * regex engine reads alike. The other rules are CEL for the API server, and code for the API and the webhooks.
 */

/** GitHub's limit, in bytes of UTF-8: git keeps `refs/heads/<branch>` in files, whose names have 255 at most. */
export const BRANCH_MAX_BYTES = 244;

/** Characters that git refuses anywhere, with control characters and the space. */
const REFUSED_SIGNS = "\\x00-\\x20\\x7f~^:?*\\[\\\\";
/** Pattern for RE2, ECMAScript and Python; it counts characters. */
export const BRANCH_PATTERN = `^[^${REFUSED_SIGNS}./-][^${REFUSED_SIGNS}]{0,${BRANCH_MAX_BYTES - 1}}$`;

/**
 * Code points that are invisible, look like a space or change the direction of the text: those of `\p{Cc}`, `\p{Cf}`,
 * `\p{Z}` and `\p{Default_Ignorable_Code_Point}` beyond ASCII, the empty braille sign, and U+FFFD, which replaces a
 * lost character. As numbers: RE2 has fewer properties, and the API server's Unicode tables may be older.
 */
const UNREADABLE =
  "7f-a0 ad 34f 600-605 61c 6dd 70f 890-891 8e2 115f-1160 1680 17b4-17b5 180b-180f 2000-200f 2028-202f 205f-206f 2800 3000 " +
  "3164 fe00-fe0f feff ffa0 fff0-fffb fffd 110bd 110cd 13430-1343f 1bca0-1bca3 1d173-1d17a e0000-e0fff";
const unreadable = new RegExp(`[${UNREADABLE.replaceAll(/[0-9a-f]+/g, "\\u{$&}").replaceAll(" ", "")}]`, "u");
const unreadableInRe2 = `[${UNREADABLE.replaceAll(/[0-9a-f]+/g, "\\x{$&}").replaceAll(" ", "")}]`;

/** A git branch, without the checks of `BRANCH_RULES`. */
export const Branch = Type.String({ minLength: 1, maxLength: BRANCH_MAX_BYTES, pattern: BRANCH_PATTERN });

/** A rule for branch names, as CEL and as code. */
export interface BranchRule {
  /** CEL expression for the text that `branch` names. */
  readonly cel: (branch: string) => string;
  readonly holds: (branch: string) => boolean;
  /** Violation of the rule, as words after "a branch". */
  readonly message: string;
}

/** Rules of https://git-scm.com/docs/git-check-ref-format that the pattern can't express, then the platform's own. */
export const BRANCH_RULES: readonly BranchRule[] = [
  ...["..", "//", "/.", ".lock/", "@{"].map((part) => ({
    cel: (branch: string) => `!${branch}.contains('${part}')`,
    holds: (branch: string) => !branch.includes(part),
    message: `must not contain '${part}'`,
  })),
  ...[".lock", ".", "/"].map((ending) => ({
    cel: (branch: string) => `!${branch}.endsWith('${ending}')`,
    holds: (branch: string) => !branch.endsWith(ending),
    message: `must not end with '${ending}'`,
  })),
  {
    cel: (branch) => `${branch} != 'HEAD'`,
    holds: (branch) => branch !== "HEAD",
    message: "must not be 'HEAD': name the branch that it stands for",
  },
  {
    cel: (branch) => `bytes(${branch}).size() <= ${BRANCH_MAX_BYTES}`,
    holds: (branch) => Buffer.byteLength(branch) <= BRANCH_MAX_BYTES,
    message: `may have ${BRANCH_MAX_BYTES} bytes at most in UTF-8`,
  },
  {
    cel: (branch) => `!${branch}.matches(r'${unreadableInRe2}')`,
    holds: (branch) => !unreadable.test(branch),
    message: "must not contain invisible characters, nor such as turn the direction of the text",
  },
];

/** Rules for the branch in a field (`self.branch`) for the API server; an absent optional one passes. */
export const branchRules = (field: string, isOptional = false): CelRule[] =>
  BRANCH_RULES.map(({ cel, message }) => ({
    rule: `${isOptional ? `!has(${field}) || ` : ""}${cel(field)}`,
    fieldPath: field.replace("self", ""),
    message: `a branch ${message}`,
  }));

const pattern = new RegExp(BRANCH_PATTERN, "u");

/** First problem of a branch's name; `undefined` when it is valid. */
export function branchProblem(branch: string): string | undefined {
  // Half a surrogate pair becomes U+FFFD on its way to the API server, so that is checked.
  const arriving = branch.toWellFormed();
  const broken = BRANCH_RULES.find((rule) => !rule.holds(arriving));
  if (broken !== undefined) return broken.message;
  return pattern.test(arriving) ? undefined : PATTERN_MESSAGE;
}

const PATTERN_MESSAGE =
  "must be a git branch name: no spaces, control characters or any of ~^:?*[\\, and no '-', '.' or '/' at the beginning";
