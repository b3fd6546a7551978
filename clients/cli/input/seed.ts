import type { DatabaseSeed } from "../../sdk/index.ts";
import { misuse } from "../failure.ts";
import { optionalText } from "../parameters.ts";

/** Flags of the data that an environment's database begins with. */
export interface SeedFlags {
  readonly databaseFrom?: string | undefined;
  readonly seedImage?: string | undefined;
  readonly seedPath?: string | undefined;
  readonly seedFormat?: DatabaseSeed["format"] | undefined;
}

export const seedFlags = {
  databaseFrom: optionalText("Environment whose database the new one's is a copy of", "environment"),
  seedPath: optionalText(
    "File with the data that the database begins with, in the backend's repository, such as /seed/data.sql",
    "path",
  ),
  seedImage: optionalText("Image that has that file instead, with a tag or a digest", "image"),
  seedFormat: {
    kind: "enum",
    values: ["sql", "dump"],
    optional: true,
    brief: "Its format: sql for psql, dump for pg_restore (default: sql for .sql and .sql.gz, else dump)",
  },
} as const;

/** Seed of the flags, if any. @throws Failure (misuse) for flags without the ones that they belong to */
export function seedRequest({ seedImage, seedPath, seedFormat }: SeedFlags): DatabaseSeed | undefined {
  if (seedImage === undefined && seedPath === undefined && seedFormat === undefined) return undefined;
  if (seedPath === undefined) throw misuse("a seed needs --seed-path: the file in the image or the repository");
  const format = seedFormat ?? (/[.]sql([.]gz)?$/.test(seedPath) ? "sql" : "dump");
  const place = seedImage === undefined ? { git: "backend" as const } : { image: seedImage };
  return { ...place, path: seedPath, format };
}
