import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, jest, test } from "@jest/globals";
import { ask } from "./support/api.ts";
import { type Outcome, run } from "./support/command.ts";
import { Environments, find } from "./support/environments.ts";
import { kubectl, waitFor } from "./support/kubectl.ts";
import { checkout, TEST_DEADLINE_MS, tokens } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const FOLLOWING_MS = 10_000;

const environments = new Environments();
/** Replaces the README's `shop-pr-42`, which may exist already. */
const name = environments.name("readme");
afterAll(async () => {
  await kubectl("patch", "eenv", name, "--type=merge", '--patch={"spec":{"protectedUntil":null}}');
  await environments.removeAll();
});

const [, use = ""] = readFileSync(join(checkout, "README.md"), "utf8").split("\n## Use it\n");
const [chapter = ""] = use.split("\n## ");
const blocks = [...chapter.matchAll(/```sh\n(.*?)```/gs)].map(([, text = ""]) => text);

/** Runs the only example with that text, as a shell would after `source .local/env`. */
async function example(part: string, deadlineMs = TEST_DEADLINE_MS): Promise<Outcome> {
  const found = blocks.filter((block) => block.includes(part));
  expect(found).toHaveLength(1);
  const script = `source .local/env\n${found[0]?.replaceAll("shop-pr-42", name)}`;
  return run("bash", { args: ["-e", "-c", script], cwd: checkout, deadlineMs });
}

test("the examples of the README's chapter 'Use it' do what it says", async () => {
  const created = await example("curl -X POST $API_URL/api/environments");
  expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining(name) });

  const applied = await example("$KUBECTL apply");
  expect(applied).toMatchObject({ code: 0, stdout: expect.stringContaining("condition met") });

  const followed = await example("/logs/backend/stream", FOLLOWING_MS);
  expect(followed.stdout).toContain("listening");

  const patched = await example("$KUBECTL patch");
  expect(patched).toMatchObject({ code: 0, stdout: expect.stringContaining("patched") });
  await waitFor(["--for=jsonpath={.spec.suspended}=true", `eenv/${name}`]);
  expect((await find(name)).spec).toMatchObject({
    backend: { branch: "feature/cart" },
    suspended: true,
    protectedUntil: expect.any(String),
  });
});

test("the README's example of an API token makes one", async () => {
  const { code, stdout } = await example("/api/tokens");
  expect(code).toBe(0);
  const { data } = JSON.parse(stdout) as { data: { id: string } };
  const revoked = await ask("DELETE", `/tokens/${data.id}`, { token: tokens.developer });
  expect(revoked.status).toBe(200);
});
