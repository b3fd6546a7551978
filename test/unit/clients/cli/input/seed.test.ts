import { describe, expect, test } from "@jest/globals";
import { type SeedFlags, seedRequest } from "../../../../../clients/cli/input/seed.ts";

const image = "registry.test/seed:1";

describe("the flags of a seed", () => {
  test.each<{ name: string; flags: SeedFlags; expected: object | undefined }>([
    { name: "ask for none when there are none", flags: {}, expected: undefined },
    {
      name: "take the format from the name of the file",
      flags: { seedImage: image, seedPath: "/data.sql.gz" },
      expected: { image, path: "/data.sql.gz", format: "sql" },
    },
    {
      name: "take any other file for a dump",
      flags: { seedImage: image, seedPath: "/data" },
      expected: { image, path: "/data", format: "dump" },
    },
    {
      name: "without an image are of a file in the backend's repository",
      flags: { seedPath: "/seed/data.sql" },
      expected: { git: "backend", path: "/seed/data.sql", format: "sql" },
    },
    {
      name: "may say the format",
      flags: { seedImage: image, seedPath: "/data", seedFormat: "sql" },
      expected: { image, path: "/data", format: "sql" },
    },
  ])("$name", ({ flags, expected }) => {
    expect(seedRequest(flags)).toEqual(expected);
  });

  test.each<SeedFlags>([{ seedImage: image }, { seedFormat: "sql" }])(
    "are refused where they name no file: %j",
    (flags) => {
      expect(() => seedRequest(flags)).toThrow("a seed needs --seed-path");
    },
  );
});
