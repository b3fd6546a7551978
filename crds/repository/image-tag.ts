import { shortCommit } from "../names.ts";
/** Tags of images, by `image.tagTemplate` of a Repository. */
import type { CelRule } from "../schema.ts";

/** Facts about a build, for placeholders. */
export interface Build {
  readonly branch: string;
  /** Full SHA of the commit that the environment shows. */
  readonly commit: string;
  /** Number of the component's pull request. */
  readonly pullRequest?: number | undefined;
  /** Id of the pipeline that built the commit. */
  readonly pipeline?: number | undefined;
  /** Full SHA of the commit that merges `commit` into its base, where pipelines build that one. */
  readonly mergeCommit?: string | undefined;
}

/**
 * Characters that a tag can't have,
 * https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests.
 */
const NOT_OF_A_TAG = /[^A-Za-z0-9_.-]+/g;

const PLACEHOLDERS = {
  commit: ({ commit }: Build) => commit,
  short: ({ commit }: Build) => shortCommit(commit),
  mergeCommit: ({ mergeCommit }: Build) => mergeCommit,
  branch: ({ branch }: Build) => branch.replaceAll(NOT_OF_A_TAG, "-"),
  pullRequest: ({ pullRequest }: Build) => pullRequest?.toString(),
  pipeline: ({ pipeline }: Build) => pipeline?.toString(),
};
export type TagPlaceholder = keyof typeof PLACEHOLDERS;

/** Placeholders with another value for every commit; a tag without them moves. */
const OF_ONE_COMMIT: readonly TagPlaceholder[] = ["commit", "short", "mergeCommit", "pipeline"];

/** Tag of a Repository that sets none. */
export const DEFAULT_TAG_TEMPLATE = "{commit}";

/** The placeholders, for people. */
export const TAG_PLACEHOLDERS =
  "{commit}, {commit:N}, {mergeCommit}, {mergeCommit:N} (their first N digits, 7 to 40), {short} (as {commit:8}), {branch}, {pullRequest} and {pipeline}";

/** Pattern for RE2 and ECMAScript: 7 to 40, as digits. */
const DIGITS = "([7-9]|[1-3][0-9]|40)";
const PLACEHOLDER = `\\{(short|branch|pullRequest|pipeline|(commit|mergeCommit)(:${DIGITS})?)\\}`;
const placeholder = new RegExp(PLACEHOLDER.replaceAll(`(:${DIGITS})?`, "(?::(\\d+))?"), "g");

/** Rules for a template, for the API server. The tag of a commit is checked again: a branch may be too long. */
export const TAG_TEMPLATE_RULES: readonly CelRule[] = [
  {
    rule: `self.matches(r'^([^{}]|${PLACEHOLDER})*$')`,
    message: `has a placeholder that does not exist, or a brace that is not closed; the placeholders are ${TAG_PLACEHOLDERS}`,
  },
  {
    rule: "self.matches(r'^([A-Za-z0-9_{}]|\\{[^{}]*\\})([A-Za-z0-9._{}-]|\\{[^{}]*\\})*$')",
    message:
      "has a character that the tag of an image can't have: beside placeholders, letters, digits, '_', '.' and '-', the last two not at the beginning",
  },
];

function placeholdersOf(template: string): readonly TagPlaceholder[] {
  return [...template.matchAll(placeholder)].map(([, name = "", withDigits]) => (withDigits ?? name) as TagPlaceholder);
}

/** True for a template with this placeholder, with or without digits. */
export const hasPlaceholder = (template: string, name: TagPlaceholder): boolean =>
  placeholdersOf(template).includes(name);

/** First placeholder without a value in the build; `undefined` when the tag is known. */
export function missingPlaceholder(template: string, build: Build): TagPlaceholder | undefined {
  return placeholdersOf(template).find((name) => PLACEHOLDERS[name](build) === undefined);
}

/** True when commits share the tag, so that only a new pull finds the newer image. */
export function isMovingTag(template: string): boolean {
  return !placeholdersOf(template).some((name) => OF_ONE_COMMIT.includes(name));
}

/** Tag of a build; a placeholder without a value stays as it is. */
export function tagOf(template: string, build: Build): string {
  return template.replaceAll(placeholder, (written, name: string, withDigits?: TagPlaceholder, digits?: string) => {
    const value = PLACEHOLDERS[withDigits ?? (name as TagPlaceholder)](build);
    return value === undefined ? written : value.slice(0, digits === undefined ? undefined : Number(digits));
  });
}
