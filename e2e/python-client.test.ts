import { afterAll, expect, jest, test } from "@jest/globals";
import { Environments, madeFor, objectsNamed } from "./support/environments.ts";
import { ownDeveloper } from "./support/identity.ts";
import { generatorPython, lifeByClient } from "./support/python-client.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
afterAll(() => environments.removeAll());

const python = await generatorPython();
const story = python === undefined ? test.skip : test;

story("a pipeline in Python has a client generated, and an environment made, extended and deleted by it", async () => {
  const name = environments.name("python");
  const { code, stdout, stderr } = await lifeByClient(python ?? "", name, ownDeveloper);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const seen = JSON.parse(stdout) as { readonly id: string };
  expect(seen).toEqual({
    id: expect.any(String),
    created: "creating",
    ready: "ready",
    url: `https://${name}--api.env.localhost:18443`,
    hours_more: 1,
    gone: "ENV_NOT_FOUND",
  });
  expect(await madeFor(seen.id)).toEqual([]);
  expect(await objectsNamed(name)).toEqual([]);
});
