import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { buildComponent, type GoComponent, goComponents, sourceHash } from "../../../../deploy/local/binaries.ts";
import { silentProgress } from "../../../../deploy/local/progress.ts";

const home = join(import.meta.dirname, "../../../../deploy/local");

describe("building a component", () => {
  let folder: string;
  let component: GoComponent;
  const cacheBefore = process.env.XDG_CACHE_HOME;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "binaries-"));
    process.env.XDG_CACHE_HOME = join(folder, "cache");
    component = { name: "tiny", folder: relative(home, folder), target: "." };
    await writeFile(join(folder, "go.mod"), "module tiny\n");
  });

  afterEach(async () => {
    if (cacheBefore === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = cacheBefore;
    await rm(folder, { recursive: true });
  });

  test("leaves nothing in the cache when it fails, and tells why", async () => {
    await writeFile(join(folder, "main.go"), "package main\nfunc main() { undefinedName() }\n");
    await expect(buildComponent(component, silentProgress)).rejects.toThrow("undefinedName");
    expect(await readdir(join(folder, "cache/ephemeral-environments"))).toEqual([]);
  }, 60_000);

  test("is done again when a source or a flag changes, and only then", async () => {
    await writeFile(join(folder, "main.go"), "package main\nfunc main() {}\n");
    const hash = await sourceHash(component);
    expect(await sourceHash({ ...component })).toBe(hash);
    expect(await sourceHash({ ...component, tags: "other" })).not.toBe(hash);
    await writeFile(join(folder, "notes.txt"), "no source");
    expect(await sourceHash(component)).toBe(hash);
    await writeFile(join(folder, "main.go"), "package main\nfunc main() { println() }\n");
    expect(await sourceHash(component)).not.toBe(hash);
  });

  test("is possible for every component: its module is there", async () => {
    for (const each of Object.values(goComponents)) {
      expect(await readdir(join(home, each.folder))).toContain("go.mod");
    }
  });
});
