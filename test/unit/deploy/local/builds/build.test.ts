import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { silentProgress } from "../../../../../deploy/build/progress.ts";
import { buildModule, sourceHash } from "../../../../../deploy/local/builds/build.ts";
import { type GoModule, gitea, goModules, podinfo, podinfoRedis } from "../../../../../deploy/local/builds/modules.ts";

const home = join(import.meta.dirname, "../../../../../deploy/local");

describe("building a module", () => {
  let folder: string;
  let module: GoModule;
  const before = { XDG_CACHE_HOME: process.env.XDG_CACHE_HOME, GOCACHE: process.env.GOCACHE };
  beforeAll(async () => {
    // Go keeps its own cache: with an empty one it compiles its standard library.
    const { stdout } = await promisify(execFile)("go", ["env", "GOCACHE"]);
    process.env.GOCACHE = stdout.trim();
  });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "binaries-"));
    process.env.XDG_CACHE_HOME = join(folder, "cache");
    module = { name: "tiny", folder: relative(home, folder), target: "./...", buildSeconds: 1 };
    await writeFile(join(folder, "go.mod"), "module tiny\n");
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });
  afterAll(() => {
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });

  test("is done once when two ask for it at the same time", async () => {
    await writeFile(join(folder, "main.go"), "package main\nfunc main() {}\n");
    const built = await Promise.all([buildModule(module, silentProgress), buildModule(module, silentProgress)]);
    expect(built[0]).toEqual(built[1]);
    expect(await readdir(built[0].programs)).toEqual(["tiny"]);
  }, 60_000);

  test("leaves nothing in the cache when it fails, and says why", async () => {
    await writeFile(join(folder, "main.go"), "package main\nfunc main() { undefinedName() }\n");
    await expect(buildModule(module, silentProgress)).rejects.toThrow("undefinedName");
    expect(await readdir(join(folder, "cache/ephemeral-environments"))).toEqual([]);
  }, 60_000);

  test("is done again when a source or a flag changes, and only then", async () => {
    await writeFile(join(folder, "main.go"), "package main\nfunc main() {}\n");
    const hash = await sourceHash(module);
    expect(await sourceHash({ ...module })).toBe(hash);
    expect(await sourceHash({ ...module, tags: "other" })).not.toBe(hash);
    expect(await sourceHash({ ...module, buildSeconds: 2 })).toBe(hash);
    await writeFile(join(folder, "notes.txt"), "no source");
    expect(await sourceHash(module)).toBe(hash);
    await writeFile(join(folder, "main.go"), "package main\nfunc main() { println() }\n");
    expect(await sourceHash(module)).not.toBe(hash);
  });

  test("takes one version of every dependency that the modules of the first start share: it is compiled once", async () => {
    const [kubernetes, traefik] = await Promise.all(["kubernetes", "traefik"].map(versionsIn));
    const shared = [...(traefik ?? [])].filter(([name]) => kubernetes?.has(name));
    expect(shared.length).toBeGreaterThan(90);
    expect(shared.filter(([name, version]) => kubernetes?.get(name) !== version)).toEqual([]);
  });

  test("is possible for every module: its go.mod is there", async () => {
    for (const each of [...Object.values(goModules), gitea, podinfo, podinfoRedis]) {
      expect(await readdir(join(home, each.folder))).toContain("go.mod");
    }
  });
});

async function versionsIn(program: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(home, "programs", program, "go.mod"), "utf8");
  const [required = ""] = text.split(/^exclude /m);
  const lines = required.matchAll(/^\t(\S+) (v\S+)(?: \/\/ indirect)?$/gm);
  return new Map([...lines].map(([, name = "", version = ""]) => [name, version]));
}
