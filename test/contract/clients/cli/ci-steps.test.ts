import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { type CommandLine, startCommandLine } from "../../../support/cli/command-line.ts";
import { READY, untilFollowed, untilMade, writeStatus } from "../../../support/cli/operator.ts";

const README = resolve(import.meta.dirname, "../../../../clients/cli/README.md");
/** Git allows it; a script that evaluates it creates a file. */
const BRANCH = "feature/$(>owned)";

let line: CommandLine;
beforeEach(async () => {
  line = await startCommandLine();
});
afterEach(() => line.stop());

async function documented(heading: string): Promise<unknown> {
  const text = await readFile(README, "utf8");
  const [, section = ""] = text.split(`## ${heading}\n`);
  return parse(/```yaml\n([\s\S]*?)```/.exec(section)?.[1] ?? "");
}

/** Runs a script as the service does, while the operator makes the environment ready. */
async function ran(script: string, env: Readonly<Record<string, string>>) {
  await writeFile(join(line.home, "step.sh"), script);
  const EENV_TOKEN = (await line.service.bearer("developer")).replace("Bearer ", "");
  const PATH = `${resolve(process.execPath, "..")}:${process.env.PATH}`;
  const running = line.spawn("bash", ["-eo", "pipefail", "step.sh"], { env: { EENV_TOKEN, PATH, ...env } });
  const early = running.ended.then(({ stderr }): never => {
    throw new Error(`the script is over: ${stderr}`);
  });
  const made = await Promise.race([untilMade(line.service, "shop-pr-7"), early]);
  await untilFollowed(line.service);
  await writeStatus(line.service, "shop-pr-7", READY);
  expect(await running.ended).toMatchObject({ code: 0, stdout: "" });
  expect(made.spec.backend).toMatchObject({ repository: "shop-api", branch: BRANCH });
  await expect(readFile(join(line.home, "owned"))).rejects.toThrow("ENOENT");
}

const URL_OF_SHOP = "https://shop-pr-7--api.env.example.test:18443";

test("the step for GitHub Actions makes the environment, and hands its URL on", async () => {
  const [, step] = (await documented("In GitHub Actions")) as { run: string; env: Record<string, string> }[];
  expect(step?.run).not.toContain("${{");
  const GITHUB_OUTPUT = join(line.home, "output");
  await ran(step?.run ?? "", { NAME: "shop-pr-7", GITHUB_HEAD_REF: BRANCH, GITHUB_OUTPUT });
  expect(await readFile(GITHUB_OUTPUT, "utf8")).toBe(`url=${URL_OF_SHOP}\n`);
});

test("the job for GitLab CI makes the environment, and hands its URL on", async () => {
  const { environment } = (await documented("In GitLab CI")) as { environment: { script: string[] } };
  await ran(environment.script.join("\n"), { NAME: "shop-pr-7", CI_COMMIT_REF_NAME: BRANCH });
  expect(await readFile(join(line.home, "environment.env"), "utf8")).toBe(`ENVIRONMENT_URL=${URL_OF_SHOP}\n`);
});
