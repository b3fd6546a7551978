import { type Static, Type } from "typebox";
import { Commit, literals, rules, text } from "./schema.ts";

export const SEED_FORMATS = ["sql", "dump"] as const;
/** Components whose repository may have the file. */
export const SEED_REPOSITORIES = ["backend"] as const;

const TAG = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}";
const DIGEST = "@sha256:[0-9a-f]{64}";
/** Type of the Secret with the file of a seed in git. It is text of the repository, which is not masked in logs. */
export const SEED_SECRET_TYPE = "ephemeral-environments.dev/database-seed";

/** An image with a tag or a digest: one without would change unnoticed. */
export const SEED_IMAGE_PATTERN = `^[a-z0-9]([a-z0-9._/:-]*[a-z0-9])?(:${TAG}(${DIGEST})?|${DIGEST})$`;
/** An absolute path whose segments begin with a letter, a digit or an underscore, so none is only dots. */
export const SEED_PATH_PATTERN = "^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$";

/** Description of a seed, for people. */
export const SEED_DESCRIPTION =
  "The data that a new database begins with: loaded once by the role that owns it, before anything else starts. A changed seed is loaded only when the database is made anew.";

export const Seed = Type.Object(
  {
    image: Type.Optional(
      text(
        512,
        "The image that has the file, with a tag or a digest; nothing of it is run. Nodes pull it without the credentials of Repositories.",
        { minLength: 1, pattern: SEED_IMAGE_PATTERN },
      ),
    ),
    git: Type.Optional(
      literals(SEED_REPOSITORIES, {
        description:
          "backend: the file is in the git repository of the backend, at the commit of the environment, and has 1 MiB at most. The platform reads it with the credential of the Repository.",
      }),
    ),
    path: text(255, "The file in the image or the repository, such as /seed/data.sql.", { pattern: SEED_PATH_PATTERN }),
    format: literals(SEED_FORMATS, {
      description: "sql: statements for psql, also compressed as .gz; dump: an archive of pg_dump -Fc for pg_restore.",
    }),
  },
  {
    description: SEED_DESCRIPTION,
    ...rules({ rule: "has(self.image) != has(self.git)", message: "a seed has either an image or git" }),
  },
);
export type Seed = Static<typeof Seed>;

/** The load of a seed in git. */
export const SeedFile = Type.Object(
  {
    load: text(63, "Id of the load, at the end of the names of its Job and its Secret."),
    commit: Type.Unsafe<string>({ ...Commit, description: "The commit that the file is of, until it is loaded." }),
    stored: Type.Optional(Type.Boolean({ description: "True once the Secret is there." })),
  },
  { description: "The seed's file in a Secret of the namespace; absent: no such Secret is needed." },
);
export type SeedFile = Static<typeof SeedFile>;

/** A seed that was loaded. */
export const LoadedSeed = Type.Object({
  ...Seed.properties,
  commit: Type.Optional(
    Type.Unsafe<string>({ ...Commit, description: "The commit that its file is of, where that is in git." }),
  ),
});
export type LoadedSeed = Static<typeof LoadedSeed>;
