import { type Static, Type } from "typebox";
import { text } from "./schema.ts";

/** Description of a copy, for people. */
export const COPY_DESCRIPTION =
  "The environment whose database the new one is a copy of: taken once by its role, masked, and complete before anything else starts. It has to have a database and to be awake, and everyone who may see the copy has to be allowed to see it.";

/** The environment that a database is copied from. */
export const CopySource = Type.Object(
  { environment: text(50, "Name of an EphemeralEnvironment.", { minLength: 1 }) },
  { description: COPY_DESCRIPTION },
);
export type CopySource = Static<typeof CopySource>;

/**
 * Statements over the rows of a copy. psql takes a text that begins with a backslash for a command of its own, which may run
 * programs.
 * https://www.postgresql.org/docs/current/app-psql.html#APP-PSQL-OPTION-COMMAND
 */
export const MASK_STATEMENT_PATTERN = "^[^\\\\\\s]";

export const DatabaseMask = Type.Array(
  text(4096, "SQL, such as UPDATE people SET email = 'person-' || id || '@example.com'.", {
    minLength: 1,
    pattern: MASK_STATEMENT_PATTERN,
  }),
  {
    maxItems: 32,
    description:
      "Statements that hide personal data in copies of databases: run in one transaction by the role that owns the copy, before anything can connect. They apply to every copy of a database of this config set, and to copies for its environments. One that fails leaves no copy.",
  },
);
