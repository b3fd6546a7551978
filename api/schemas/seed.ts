import { type Static, Type } from "typebox";
import { closed } from "../../crds/schema.ts";
import { SEED_DESCRIPTION, Seed } from "../../crds/seed.schema.ts";
import { titled } from "./fields.ts";

const { image, path, format } = Seed.properties;

/** Seed of a database, in requests and answers. */
export const DatabaseSeed = closed(
  {
    image: Type.Unsafe<string>({
      ...image,
      "x-refusal": "must be an image with a tag or a digest, such as registry.example.com/shop/seed:2026-11",
    }),
    path: Type.Unsafe<string>({ ...path, "x-refusal": "must be the whole path of a file, such as /seed/data.sql" }),
    format,
  },
  titled(
    "DatabaseSeed",
    { image: "registry.example.com/shop/seed:2026-11", path: "/seed/data.sql", format: "sql" },
    { description: SEED_DESCRIPTION },
  ),
);
export type DatabaseSeed = Static<typeof DatabaseSeed>;
