/** Fields that recur in requests and replies. */
import { type TSchema, Type } from "typebox";
import { NAME_MAX_LENGTH, NAME_MIN_LENGTH, NAME_PATTERN } from "../../crds/names.ts";
import { BRANCH_MAX_BYTES, BRANCH_PATTERN } from "../../crds/repository/branches.ts";
import { closed, literals } from "../../crds/schema.ts";
import { ERROR_CODES } from "../errors.ts";

/** Options of a component schema: its name, an example, and further keywords. */
export const titled = (title: string, example: object, more: object = {}) => ({ title, ...more, examples: [example] });

/** A value, or null with the description's meaning. */
export const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const Instant = Type.String({ format: "date-time", description: "ISO 8601, UTC." });

const NAME = { minLength: NAME_MIN_LENGTH, maxLength: NAME_MAX_LENGTH, pattern: NAME_PATTERN };

export const EnvironmentName = Type.String({
  ...NAME,
  format: "environment-name",
  description: "Unique; a DNS label that starts with a letter, without '--', not reserved.",
});
export const ConfigSetName = Type.String({
  ...NAME,
  format: "config-set-name",
  description: "Unique; a DNS label that starts with a letter, without '--'.",
});

/** Path of an object with an id. */
export const idPath = (description: string, example: string) =>
  closed({ id: Type.String({ minLength: 1, maxLength: 253, description, examples: [example] }) });

/** An id: URLs, paths and options of git match no Repository. */
export const RepositoryId = Type.String({
  minLength: 1,
  maxLength: 253,
  description: "Id of a registered repository.",
});
export const OptionalRepositoryId = Type.String({ maxLength: 253, description: "Id of a registered repository." });

export const BranchName = Type.String({
  format: "git-branch",
  minLength: 1,
  maxLength: BRANCH_MAX_BYTES,
  pattern: BRANCH_PATTERN,
  description: `Git branch: whatever git takes, ${BRANCH_MAX_BYTES} bytes of UTF-8 at most, without invisible characters.`,
});
/** A branch, or the empty text, which counts as absent. */
export const OptionalBranchName = Type.String({
  format: "git-branch",
  maxLength: BRANCH_MAX_BYTES,
  pattern: `^$|${BRANCH_PATTERN}`,
  description: "Git branch, as backend_branch; the repository's default branch when empty.",
});

export const CommitSha = Type.String({
  maxLength: 64,
  pattern: "^([0-9A-Fa-f]{7,64})?$",
  "x-refusal": "must be a commit SHA in hexadecimal digits, 7 at least, or empty",
  description:
    "Commit SHA; the latest of the branch when empty. A short one of 7 digits or more stands for the head of the named branch and for no other commit: it is resolved once, when the environment is created.",
});

/** Success marker of replies. */
export const Success = literals(["success"]);

const Violation = closed({
  field: Type.String({
    description:
      "A field of the body, a query parameter, a parameter of the path or a header: its path, with dots. Empty: no single one.",
  }),
  message: Type.String({ description: "Violation, to be read after the field's name." }),
});

/** Body of every error. */
export const Problem = closed(
  {
    detail: Type.String({ description: "The error, for people." }),
    status_code: Type.Integer(),
    error_code: Type.Optional(literals(ERROR_CODES)),
    violations: Type.Optional(
      Type.Array(Violation, {
        description:
          "Violations, one of each field, in the order of `detail`, which has them in one sentence. In version 2 alone, and only where parts of the request are wrong.",
      }),
    ),
    timestamp: Instant,
  },
  titled("Problem", {
    detail: "Environment name already exists",
    status_code: 400,
    error_code: "ENV_NAME_EXISTS",
    timestamp: "2026-06-01T12:00:00.000Z",
  }),
);

/** Figure with so many decimals; null stays null. */
export function rounded<N extends number | null>(value: N, digits: number): N {
  return (value === null ? null : Number(value.toFixed(digits))) as N;
}
