import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Application, type CommandContext, generateHelpTextForAllCommands } from "@stricli/core";
import { application } from "../../../../clients/cli/application.ts";
import { type CommandLine, startCommandLine } from "../../../support/cli/command-line.ts";
import { READY, untilFollowed, untilMade, writeStatus } from "../../../support/cli/operator.ts";
import { configSetFixture } from "../../../support/fixtures/environment/environment-fixture.ts";

const NAME = "shop-pr-42";
/** Examples for others: a person with a browser, and a program with tools. */
const ELSEWHERE = /^(login|mcp)/;
/** Examples with an error here: the repository's host is unknown in the tests. */
const REFUSED = /^webhook check/;
const OF_MAINTAINERS = /^(config-set|repo reload|webhook)/;

const helpOf = generateHelpTextForAllCommands(application as unknown as Application<CommandContext>);
const documented = helpOf.map(([command, help]) => {
  const [, listed = ""] = /Examples:\n([\s\S]*?)\n\n/.exec(help) ?? [];
  return { command, examples: [...listed.matchAll(/^ {2}eenv (.*)$/gm)].map(([, example = ""]) => example) };
});

let line: CommandLine;
beforeAll(async () => {
  line = await startCommandLine({ configSets: [configSetFixture("web")] });
  line.service.branchHeads.push("shop-api", "feature/cart", "d".repeat(40));
  await writeFile(join(line.home, "config-set.yaml"), "name: fresh\ndescription: of a test\n");
  await writeFile(join(line.home, "payload.json"), "{}");
  await writeFile(join(line.home, "body.json"), '{"protected":true}');
});
afterAll(() => line.stop());

async function putEnvironment(): Promise<void> {
  const { environments } = line.service;
  environments.finishRemoval(NAME);
  const backend = { repository: "shop-api", branch: "main" };
  const spec = { backend, database: { provision: true }, ttlHours: 24, access: { groups: ["shop"] } };
  await environments.create(NAME, spec);
  await writeStatus(line.service, NAME, READY);
  const pods = { desired: 1, ready: 1, restarts: 0, images: [] };
  line.service.workloads.put(NAME, { kind: "Deployment", name: "shop-api", ...pods });
}

function words(example: string): string[] {
  const found = example.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g);
  return [...found].map(([, single, double, bare]) => single ?? double ?? bare ?? "");
}

test("every command has examples", () => {
  expect(documented.filter(({ examples }) => examples.length === 0)).toEqual([]);
  expect(documented.length).toBeGreaterThan(30);
});

test.each(documented.filter(({ examples }) => !ELSEWHERE.test(examples[0] ?? "")))(
  "the examples in the help of '$command' run",
  async ({ examples }) => {
    for (const example of examples) {
      const isCreation = example.startsWith("create");
      if (isCreation) line.service.environments.finishRemoval(NAME);
      else await putEnvironment();
      const person = OF_MAINTAINERS.test(example) ? "maintainer" : "developer";
      const { id } = await line.service.makeToken(person);
      const args = words(example.replace("TOKEN_ID", id));
      const running = await line.start(person, args, { env: { BROWSER: "true" } });
      // Creations that wait.
      if (isCreation && !args.includes("--no-wait")) {
        await untilMade(line.service, NAME);
        await writeStatus(line.service, NAME, READY);
      } else if (/^update .*--branch/.test(example)) {
        await untilFollowed(line.service);
        await writeStatus(line.service, NAME, READY);
      }
      const { code, stderr } = await running.ended;
      expect({ example, code, stderr }).toEqual({
        example,
        code: REFUSED.test(example) ? 1 : 0,
        stderr: expect.any(String),
      });
    }
  },
  60_000,
);
