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
  seedImage: optionalText("Image with the data that the database begins with, with a tag or a digest", "image"),
  seedPath: optionalText("File with the data in that image, such as /seed/data.sql", "path"),
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
  if (seedImage === undefined || seedPath === undefined) throw misuse("a seed has both --seed-image and --seed-path");
  const format = seedFormat ?? (/[.]sql([.]gz)?$/.test(seedPath) ? "sql" : "dump");
  return { image: seedImage, path: seedPath, format };
}
