import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import packageJson from "../../../../package.json" with { type: "json" };

const execute = promisify(execFile);
const sources = resolve(import.meta.dirname, "../../../../deploy/local");

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "command line's "));
});
afterAll(() => rm(folder, { recursive: true }));

test("the file for 'source' puts eenv on the path once, in whatever folder the checkout is", async () => {
  const program = `
    import { installCommandLine } from ${JSON.stringify(join(sources, "command-line.ts"))};
    import { writeShellVariables } from ${JSON.stringify(join(sources, "shell-variables.ts"))};
    await installCommandLine();
    await writeShellVariables({ EENV_URL: "http://127.0.0.1:1/it's" });`;
  const file = join(folder, "install.ts");
  await writeFile(file, program);
  await execute(process.execPath, [file], { env: { ...process.env, STATE_FOLDER: folder } });
  const script = 'source "$0/env"; source "$0/env"; echo "$PATH"; echo "$EENV_URL"; eenv version';
  const { stdout } = await execute("bash", ["--norc", "-c", script, folder], { env: { PATH: "/usr/bin:/bin" } });
  expect(stdout.split("\n")).toEqual([
    `${join(folder, "bin")}:/usr/bin:/bin`,
    "http://127.0.0.1:1/it's",
    packageJson.version,
    "",
  ]);
  // Readers without a shell find the variables, and not the path.
  expect(await readFile(join(folder, "env"), "utf8")).toMatch(/^export EENV_URL='/);
});
