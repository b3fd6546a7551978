import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "@jest/globals";

const execute = promisify(execFile);
const makefile = resolve(import.meta.dirname, "../../../../Makefile");

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "install-scripts-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** A package whose install script leaves a mark. */
async function pack(name: string): Promise<string> {
  const scripts = { postinstall: `touch '${join(folder, `ran-${name}`)}'` };
  await mkdir(join(folder, name, "package"), { recursive: true });
  await writeFile(join(folder, name, "package/package.json"), JSON.stringify({ name, version: "1.0.0", scripts }));
  const archive = join(folder, `${name}.tgz`);
  await execute("tar", ["-czf", archive, "-C", join(folder, name), "package"]);
  return `file:${archive}`;
}

/** Installs a project that depends on both packages, by the project's own Makefile, and answers whose scripts ran. */
async function whoseScriptsRun(allowScripts: Readonly<Record<string, boolean>>): Promise<readonly string[]> {
  const dependencies = { trusted: await pack("trusted"), stranger: await pack("stranger") };
  const project = { name: "project", version: "1.0.0", private: true, allowScripts, dependencies };
  await writeFile(join(folder, "package.json"), JSON.stringify(project));
  const lock = ["install", "--package-lock-only", "--ignore-scripts", "--offline", "--no-audit", "--no-fund"];
  await execute("npm", lock, { cwd: folder, timeout: 60_000 });
  const locked = await readFile(join(folder, "package-lock.json"), "utf8");
  // The behaviour of an npm that does not know allowScripts.
  const env = { ...process.env, npm_config_dangerously_allow_all_scripts: "true" };
  await execute("make", ["--file", makefile, "node_modules"], { cwd: folder, env, timeout: 60_000 });
  expect(await readFile(join(folder, "package-lock.json"), "utf8")).toBe(locked);
  const ran = (await readdir(folder)).filter((name) => name.startsWith("ran-"));
  return ran.map((name) => name.replace("ran-", ""));
}

test("abuse case 94: an installation runs the scripts of the allowed packages alone, also with an npm that allows all", async () => {
  expect(await whoseScriptsRun({ trusted: true, stranger: false })).toEqual(["trusted"]);
}, 90_000);

test("abuse case 94: where no package is allowed, no script runs", async () => {
  expect(await whoseScriptsRun({})).toEqual([]);
}, 90_000);

/** An npm that leaves partial work and kills the whole `make` the first time. */
const KILLED_ONCE = `#!/bin/bash
if [[ $1 == ci && ! -e killed ]]; then
  touch killed
  rm -rf node_modules && mkdir -p node_modules/beginning
  kill -9 0
fi
exec "$REAL_NPM" "$@"
`;

test("an installation that was killed on its way is made again", async () => {
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ name: "project", dependencies: { a: await pack("a") } }),
  );
  const npm = (await execute("which", ["npm"])).stdout.trim();
  await execute(npm, ["install", "--package-lock-only", "--offline", "--no-audit"], { cwd: folder, timeout: 60_000 });
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "bin/npm"), KILLED_ONCE, { mode: 0o755 });
  const env = { ...process.env, REAL_NPM: npm, PATH: `${join(folder, "bin")}:${process.env.PATH}` };
  const install = async () => {
    // In its own process group, which is killed as a whole.
    const make = spawn("make", ["--file", makefile, "node_modules"], { cwd: folder, env, detached: true });
    return ((await once(make, "exit")) as [number | null])[0];
  };
  expect(await install()).toBeNull();
  expect(await readdir(join(folder, "node_modules"))).toEqual(["beginning"]);
  expect(await install()).toBe(0);
  expect(await readdir(join(folder, "node_modules"))).toContain("a");
  const installed = await stat(join(folder, "node_modules/a"));
  expect(await install()).toBe(0);
  expect((await stat(join(folder, "node_modules/a"))).ino).toBe(installed.ino);
}, 90_000);
