/** Fields that recur in requests and replies. */
import { Type } from "typebox";
import type { ErrorCode } from "../../crds/errors.ts";
import { NAME_MAX_LENGTH, NAME_MIN_LENGTH, NAME_PATTERN } from "../../crds/names.ts";
import { BRANCH_PATTERN, COMMIT_PATTERN, closed, literals } from "../../crds/schema.ts";

export const Instant = Type.String({ format: "date-time", description: "ISO 8601, UTC." });

export const EnvironmentName = Type.String({
  format: "environment-name",
  minLength: NAME_MIN_LENGTH,
  maxLength: NAME_MAX_LENGTH,
  pattern: NAME_PATTERN,
  description: "Unique; a DNS label that starts with a letter, without '--', not reserved.",
});

/** Ids only: a URL, a path or an option of git is no Repository and never looked at further. */
export const RepositoryId = Type.String({
  minLength: 1,
  maxLength: 253,
  description: "Id of a registered repository.",
});
export const OptionalRepositoryId = Type.String({ maxLength: 253, description: "Id of a registered repository." });

export const BranchName = Type.String({
  format: "git-branch",
  minLength: 1,
  maxLength: 244,
  pattern: BRANCH_PATTERN,
  "x-refusal": "must be a git branch name without spaces, leading '-' or '.', '..', '//' and the signs ~^:?*[\\@{",
});
/** The same, or empty: as if it had been left out. */
export const OptionalBranchName = Type.String({
  format: "git-branch",
  maxLength: 244,
  pattern: `^$|${BRANCH_PATTERN}`,
  "x-refusal": "must be a git branch name without spaces, leading '-' or '.', '..', '//' and the signs ~^:?*[\\@{",
});

export const CommitSha = Type.String({
  maxLength: 64,
  pattern: COMMIT_PATTERN,
  "x-refusal": "must be a full commit SHA in lower-case hexadecimal digits, or empty",
  description: "Full commit SHA; the latest of the branch when empty.",
});

/** The success marker of replies that carry one. */
export const Success = literals(["success"]);

const ERROR_CODES = [
  "ENV_NAME_EXISTS",
  "ENV_NOT_FOUND",
  "ENV_CREATION_FAILED",
  "ENV_TTL_EXCEEDED",
  "ENV_REPO_NOT_FOUND",
  "ENV_CONFIG_INVALID",
] as const satisfies readonly ErrorCode[];

/** The body of every error. */
export const Problem = closed(
  {
    detail: Type.String({ description: "What is wrong, in words." }),
    status_code: Type.Integer(),
    error_code: Type.Optional(literals(ERROR_CODES)),
    timestamp: Instant,
  },
  {
    title: "Problem",
    examples: [
      {
        detail: "Environment name already exists",
        status_code: 400,
        error_code: "ENV_NAME_EXISTS",
        timestamp: "2026-06-01T12:00:00.000Z",
      },
    ],
  },
);
