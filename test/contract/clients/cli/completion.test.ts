import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type CommandLine, eenvFile, startCommandLine } from "../../../support/cli/command-line.ts";

let line: CommandLine;
beforeAll(async () => {
  line = await startCommandLine();
  const spec = { backend: { repository: "shop-api", branch: "main" }, access: { groups: ["shop"] } };
  for (const name of ["shop-one", "shop-two", "other"]) await line.service.environments.create(name, spec);
  await writeFile(join(line.home, "eenv"), `#!/bin/sh\nexec ${process.execPath} ${eenvFile} "$@"\n`, { mode: 0o755 });
});
afterAll(() => line.stop());

async function proposed(words: readonly string[]): Promise<string[]> {
  const { stdout } = await line.eenv("developer", ["__complete", ...words]);
  return stdout
    .trim()
    .split("\n")
    .map((proposal) => proposal.split("\t")[0] ?? "");
}

test.each([
  ["commands", ["pro"], ["protect"]],
  ["commands of a group", ["config-set", ""], ["list", "get", "apply", "delete"]],
  ["flags", ["create", "--if"], ["--if-exists"]],
  ["values of a flag", ["wait", "shop-one", "--for", "a"], ["asleep"]],
  ["names of environments", ["get", "shop"], ["shop-one", "shop-two"]],
  ["components", ["logs", "shop-one", "b"], ["backend"]],
])("%s are completed", async (_, words, expected) => {
  expect((await proposed(words)).sort()).toEqual(expect.arrayContaining([...expected].sort()));
});

test("nothing is proposed, and nothing said, where the platform can't be asked", async () => {
  const env = { EENV_URL: "http://127.0.0.1:1" };
  expect(await line.eenv("developer", ["__complete", "get", "shop"], { env })).toEqual({
    code: 0,
    stdout: "",
    stderr: "",
  });
});

test("bash completes with its script", async () => {
  const lines = [
    "source <(eenv completion bash)",
    "COMP_WORDS=(eenv get shop-t); COMP_CWORD=2; _eenv",
    "declare -p COMPREPLY",
  ];
  const env = { PATH: `${line.home}:${process.env.PATH}` };
  const token = (await line.service.bearer("developer")).replace("Bearer ", "");
  const { ended } = line.spawn("bash", ["-c", lines.join("\n")], { env: { ...env, EENV_TOKEN: token } });
  expect(await ended).toEqual({ code: 0, stdout: 'declare -a COMPREPLY=([0]="shop-two")\n', stderr: "" });
});

/** Optional shells that read a script without running it. */
for (const shell of ["zsh", "fish"]) {
  const isInstalled = spawnSync(shell, ["--version"]).status === 0;
  (isInstalled ? test : test.skip)(`${shell} understands its script`, async () => {
    const { stdout } = await line.eenv("developer", ["completion", shell]);
    await writeFile(join(line.home, "script"), stdout);
    const { code, stderr } = await line.spawn(shell, ["-n", "script"]).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
}
