import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, matchesGlob, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  BUNDLE_MAIN,
  bundleOperator,
  bundleSources,
  type OperatorBundle,
  operatorBundle,
} from "../../../../deploy/bundle/operator-bundle.ts";

const execute = promisify(execFile);
const checkout = resolve(import.meta.dirname, "../../../..");

describe("the operator's bundle", () => {
  let folder: string;
  let bundle: string;
  let made: OperatorBundle;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "operator-bundle-"));
    bundle = join(folder, "dist/operator");
    made = await bundleOperator(bundle);
  }, 60_000);
  afterAll(() => rm(folder, { recursive: true }));

  test("is made anew when any source of it changes", () => {
    const own = made.modules.map((path) => relative(checkout, path)).filter((path) => /^[a-z]+\//.test(path));
    const others = own.filter((path) => !path.startsWith("node_modules/"));
    expect(others.length).toBeGreaterThan(500);
    expect(others.filter((path) => !bundleSources.some((pattern) => matchesGlob(path, pattern)))).toEqual([]);
  });

  test("needs no package beside it to start but those whose files it serves", async () => {
    await mkdir(join(folder, "node_modules"));
    for (const name of ["redoc", "swagger-ui-dist"])
      await symlink(join(checkout, "node_modules", name), join(folder, "node_modules", name));
    const { stdout } = await execute(process.execPath, [join(bundle, BUNDLE_MAIN), "--help"], { timeout: 30_000 });
    expect(stdout).toContain("--settings FILE");
  });

  test("leaves out the one package that finds files beside its modules", () => {
    expect(made.packages).toEqual(["@google-cloud/secret-manager"]);
  });

  test("is made once, with the same bytes wherever that is, and of older ones a few are kept", async () => {
    const parent = join(folder, "kept/dist");
    const older = Array.from({ length: 6 }, (_, age) => join(parent, `operator-${age}`));
    for (const [age, path] of older.entries()) {
      await mkdir(path, { recursive: true });
      await utimes(path, 1_000 - age, 1_000 - age);
    }
    const path = await operatorBundle(parent);
    const { ino } = await stat(path);
    expect(await operatorBundle(parent)).toBe(path);
    expect((await stat(path)).ino).toBe(ino);
    const kept = ["operator-0", "operator-1", "operator-2", "operator-3", basename(dirname(path))];
    expect((await readdir(parent)).sort()).toEqual(kept.sort());
    const names = (await readdir(bundle)).sort();
    expect((await readdir(dirname(path))).sort()).toEqual(names);
    for (const name of names) {
      const [one, two] = await Promise.all([bundle, dirname(path)].map((each) => readFile(join(each, name), "utf8")));
      expect(one).toBe(two);
      expect(one).not.toContain(checkout);
    }
  }, 60_000);
});
