import { afterAll, expect, jest, test } from "@jest/globals";
import { Environments, find, madeFor, untilGone, untilReady } from "./support/environments.ts";
import { apply, kubectl, read, waitFor } from "./support/kubectl.ts";
import { TEST_DEADLINE_MS } from "./support/site.ts";

jest.setTimeout(TEST_DEADLINE_MS);

const environments = new Environments();
const strangers: string[] = [];
afterAll(async () => {
  await environments.removeAll();
  for (const stranger of strangers) await kubectl("delete", ...stranger.split(" "), "--ignore-not-found");
});

const manifest = (name: string, repository = "sample-backend") => ({
  apiVersion: "ephemeral-environments.dev/v1",
  kind: "EphemeralEnvironment",
  metadata: { name },
  spec: { ttlHours: 1, backend: { repository, branch: "main" } },
});

test.concurrent("a foreign namespace of that name is never touched; once it is gone the environment becomes ready", async () => {
  const name = environments.name("taken");
  const namespace = `env-${name}`;
  strangers.push(`namespace ${namespace}`);
  await kubectl("create", "namespace", namespace);
  const config = ["create", "configmap", "precious", `--namespace=${namespace}`, "--from-literal=kept=yes"];
  await kubectl(...config);
  const before = await read("namespace", namespace);

  await apply(manifest(name));
  await expectFailed(name, new RegExp(`'${namespace}' exists and does not belong to this environment`));
  expect(await read("namespace", namespace)).toEqual(before);
  expect(await madeFor((await find(name)).metadata.uid)).not.toContainEqual(expect.stringContaining("Application"));

  // Removing the environment removes only its own objects.
  await kubectl("delete", "eenv", name, "--wait=false");
  await untilGone(name);
  expect(await read("namespace", namespace)).toEqual(before);
  await read("configmap", "precious", `--namespace=${namespace}`);

  await apply(manifest(name));
  await expectFailed(name, /does not belong to this environment/);
  await kubectl("delete", "namespace", namespace, "--wait=false");
  await untilReady(name);
});

test.concurrent("an unknown repository shows in the conditions; once it is registered the environment becomes ready", async () => {
  const name = environments.name("unregistered");
  const repository = name;
  await apply(manifest(name, repository));
  await expectFailed(name, new RegExp(`no backend Repository '${repository}' is registered`));

  strangers.push(`erepo ${repository} --namespace=ephemeral-system`);
  const sample = await read<{ spec: object }>("erepo", "sample-backend", "--namespace=ephemeral-system");
  await apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "Repository",
    metadata: { name: repository, namespace: "ephemeral-system" },
    spec: sample.spec,
  });
  await untilReady(name);
});

async function expectFailed(name: string, because: RegExp): Promise<void> {
  await waitFor(["--for=jsonpath={.status.phase}=failed", `eenv/${name}`], 30);
  const { status } = await find(name);
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  expect(ready).toMatchObject({ status: "False", message: expect.stringMatching(because) });
}
