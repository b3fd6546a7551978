import { type Static, Type } from "typebox";
import { literals, text } from "./schema.ts";

export const SEED_FORMATS = ["sql", "dump"] as const;

const TAG = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}";
const DIGEST = "@sha256:[0-9a-f]{64}";
/** An image with a tag or a digest: one without would change unnoticed. */
export const SEED_IMAGE_PATTERN = `^[a-z0-9]([a-z0-9._/:-]*[a-z0-9])?(:${TAG}(${DIGEST})?|${DIGEST})$`;
/** An absolute path whose segments begin with a letter, a digit or an underscore, so none is only dots. */
export const SEED_PATH_PATTERN = "^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$";

/** Description of a seed, for people. */
export const SEED_DESCRIPTION =
  "The data that a new database begins with: loaded once by the role that owns it, before anything else starts. A changed seed is loaded only when the database is made anew.";

export const Seed = Type.Object(
  {
    image: text(
      512,
      "The image that has the file, with a tag or a digest; nothing of it is run. Nodes pull it without the credentials of Repositories.",
      { minLength: 1, pattern: SEED_IMAGE_PATTERN },
    ),
    path: text(255, "The file in the image, such as /seed/data.sql.", { pattern: SEED_PATH_PATTERN }),
    format: literals(SEED_FORMATS, {
      description: "sql: statements for psql, also compressed as .gz; dump: an archive of pg_dump -Fc for pg_restore.",
    }),
  },
  { description: SEED_DESCRIPTION },
);
export type Seed = Static<typeof Seed>;
