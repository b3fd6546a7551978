import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, jest, test } from "@jest/globals";
import { type Outcome, run } from "./support/command.ts";
import { Environments, madeFor, untilReady } from "./support/environments.ts";
import { ownDeveloper } from "./support/identity.ts";
import { read } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { site, stateFolder, TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const home = await mkdtemp(join(tmpdir(), "eenv-"));
afterAll(async () => {
  await environments.removeAll();
  await rm(home, { recursive: true });
});

/** Runs the command line of `make up`, for a user with a temporary home. */
function eenv(args: readonly string[], input = ""): Promise<Outcome> {
  const env = { HOME: home, XDG_CONFIG_HOME: home, EENV_URL: site.apiUrl, EENV_TOKEN: "" };
  return run(join(stateFolder, "bin/eenv"), { args, input, env, deadlineMs: TEST_DEADLINE_MS });
}

async function printed(...args: readonly string[]): Promise<string> {
  const outcome = await eenv(args);
  expect({ args, ...outcome }).toMatchObject({ code: 0 });
  return outcome.stdout;
}

const shown = async (...args: readonly string[]) => JSON.parse(await printed(...args, "--output=json")) as unknown;
const featuresAt = async (url: string) => (JSON.parse((await open(url)).body) as { features: unknown }).features;

test("a developer logs in, and leads an environment from its creation to its end from the terminal", async () => {
  const name = environments.name("line");
  expect(await eenv(["list"])).toMatchObject({ code: 4, stdout: "" });
  const login = await eenv(["login", "--with-token"], ownDeveloper);
  expect(login).toMatchObject({ code: 0, stderr: expect.stringContaining("dev@example.test") });

  const url = `https://${name}--api.env.localhost:18443`;
  const created = await eenv(["create", name, "--repo", "sample-backend", "--branch", "main", "--ttl", "1h"]);
  expect(created).toMatchObject({ code: 0, stdout: `${url}\n` });
  expect(created.stderr).toMatch(/NamespaceReady: done\n(.*\n)*.*is ready\n$/);
  expect(await featuresAt(url)).toEqual([]);
  expect(await printed("logs", name)).toContain("listening");

  expect(await shown("update", name, "--branch", "feature/cart")).toMatchObject({
    status: "ready",
    observed: true,
    repositories: { backend: { branch: "feature/cart", commit: expect.stringMatching(/^[0-9a-f]{40}$/) } },
  });
  expect(await featuresAt(url)).toEqual(["cart"]);

  expect(await shown("sleep", name, "--wait")).toMatchObject({ status: "ready", suspended: true });
  const { spec } = await read<{ spec: { replicas: number } }>("deployment", "backend", `--namespace=env-${name}`);
  expect(spec.replicas).toBe(0);
  expect(await shown("wake", name, "--wait")).toMatchObject({ status: "ready", suspended: false });
  expect(await featuresAt(url)).toEqual(["cart"]);
  expect(await shown("extend", name, "2h", "--reason", "the review takes longer")).toMatchObject({ ttl_hours: 3 });

  const { uid } = (await untilReady(name)).metadata;
  expect(await printed("delete", name, "--yes", "--wait")).toBe("");
  expect(await madeFor(uid)).toEqual([]);
  expect(await eenv(["get", name])).toMatchObject({ code: 5, stdout: "" });
});
