import { type Static, Type } from "typebox";
import { closed } from "../../crds/schema.ts";
import { LoadedSeed, SEED_DESCRIPTION, Seed } from "../../crds/seed.schema.ts";
import { titled } from "./fields.ts";

const { image, git, path, format } = Seed.properties;

const fields = {
  image: Type.Optional(
    Type.Unsafe<string>({
      ...image,
      "x-refusal": "must be an image with a tag or a digest, such as registry.example.com/shop/seed:2026-11",
    }),
  ),
  git: Type.Optional(git),
  path: Type.Unsafe<string>({ ...path, "x-refusal": "must be the whole path of a file, such as /seed/data.sql" }),
  format,
};
const example = { image: "registry.example.com/shop/seed:2026-11", path: "/seed/data.sql", format: "sql" } as const;

/** Seed of a database, in requests and in answers about config sets. */
export const DatabaseSeed = closed(
  fields,
  titled("DatabaseSeed", example, {
    minProperties: 3,
    maxProperties: 3,
    "x-refusal": "must have either an image or git",
    description: SEED_DESCRIPTION,
  }),
);
export type DatabaseSeed = Static<typeof DatabaseSeed>;

/** Seed that a database was made with. */
export const LoadedDatabaseSeed = closed(
  { ...fields, commit: LoadedSeed.properties.commit },
  titled("LoadedDatabaseSeed", example, { description: "The seed that a database was made with." }),
);
