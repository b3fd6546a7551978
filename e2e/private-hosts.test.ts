import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { Environments, find, untilGone, untilReady } from "./support/environments.ts";
import { giteaUrl } from "./support/gitea/gitea.ts";
import {
  makePrivateComponent,
  type PrivateComponent,
  removePrivateComponent,
} from "./support/gitea/private-component.ts";
import { apply, kubectl, list, waitFor } from "./support/kubectl.ts";
import { open } from "./support/page.ts";
import { names, stateFolder, TEST_DEADLINE_MS } from "./support/site.ts";
import { waitUntil } from "./support/wait.ts";

jest.setTimeout(TEST_DEADLINE_MS);

/** The local cluster's settings bind it to Gitea, for this test alone. */
const CREDENTIAL = "e2e-git";

const environments = new Environments();
const repository = `e2e-private-${environments.mark}`;
/** A second registration, with a constant tag. */
const moving = `e2e-moving-${environments.mark}`;

let component: PrivateComponent;
beforeAll(async () => {
  component = await makePrivateComponent(giteaUrl, repository);
});
// Separate hooks: a failing one does not skip the others.
afterAll(() => environments.removeAll());
afterAll(async () => {
  await kubectl("delete", "erepo", repository, moving, "--namespace=ephemeral-system", "--ignore-not-found");
  await kubectl("delete", "secret", CREDENTIAL, `--namespace=${names.secretStoreNamespace}`, "--ignore-not-found");
});
afterAll(() => removePrivateComponent(giteaUrl, repository));

const secret = () => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: CREDENTIAL,
    namespace: names.secretStoreNamespace,
    labels: { "ephemeral-environments.dev/shared": "true" },
  },
  stringData: { "1": component.credential },
});

const registration = () => ({
  apiVersion: "ephemeral-environments.dev/v1",
  kind: "Repository",
  metadata: { name: repository, namespace: "ephemeral-system" },
  spec: {
    type: "backend",
    cloneUrl: component.cloneUrl,
    port: 8080,
    healthPath: "/healthz",
    image: { repository: component.image },
    credentialsRef: { name: CREDENTIAL, key: "latest" },
    imagePullSecretRef: { name: CREDENTIAL, key: "latest" },
  },
});

test("a private repository runs from a private registry, once the secret manager has the credential of both", async () => {
  expect(await component.anonymously()).toBe(401);
  const name = environments.name("private");
  await apply(registration());
  await apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "EphemeralEnvironment",
    metadata: { name },
    spec: { ttlHours: 1, backend: { repository, branch: "main" } },
  });
  await waitFor(["--for=jsonpath={.status.phase}=failed", `eenv/${name}`]);
  const failure = (await find(name)).status?.conditions?.find(({ type }) => type === "Ready");
  expect(failure?.message).toContain(`the secret manager has no '${CREDENTIAL}@latest'`);

  await apply(secret());
  await kubectl("annotate", "eenv", name, "ephemeral-environments.dev/reconcile-at=now");
  await untilReady(name);
  expect((await open(`https://${name}--api.env.localhost:18443/healthz`)).status).toBe(200);
  const pods = await list<{ spec: { containers: { image: string }[] } }>("pods", `--namespace=env-${name}`);
  expect(pods.map(({ spec }) => spec.containers[0]?.image)).toEqual([`${component.image}:${component.commit}`]);

  await expectUntold();
  await kubectl("delete", "eenv", name, "--wait=false");
  await untilGone(name);
});

async function answeredCommit(name: string): Promise<string> {
  const { body } = await open(`https://${name}--api.env.localhost:18443/`);
  return (JSON.parse(body) as { commit: string }).commit;
}

test("a tag that stays the same from commit to commit is pulled anew for each of them", async () => {
  const name = environments.name("moving");
  const [first, second] = ["1".repeat(40), "2".repeat(40)] as const;
  const { metadata, spec } = registration();
  const image = { ...spec.image, tagTemplate: "{branch}" };
  await apply(secret());
  await apply({ ...registration(), metadata: { ...metadata, name: moving }, spec: { ...spec, image } });
  const desired = (commit: string) => ({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "EphemeralEnvironment",
    metadata: { name },
    spec: { ttlHours: 1, backend: { repository: moving, branch: "main", commit } },
  });
  for (const commit of [first, second]) {
    await component.retag("main", commit);
    await apply(desired(commit));
    await waitFor([`--for=jsonpath={.status.components.backend.commit}=${commit}`, `eenv/${name}`]);
    await untilReady(name);
    await waitUntil({
      what: `the answers of commit ${commit}`,
      check: async () => (await answeredCommit(name)) === commit,
      deadlineMs: 3e4,
      pollMs: 500,
    });
  }
  await kubectl("delete", "eenv", name, "--wait=false");
  await untilGone(name);
});

/** Expects the credential in no object other than a Secret, and in no log. */
async function expectUntold(): Promise<void> {
  const logs = join(stateFolder, "cluster/log");
  const files = await readdir(logs);
  expect(files).toEqual(expect.arrayContaining(["operator.log", "containerd.log", "kubelet.log"]));
  const kinds = "erepo,eenv,applications,events,pods,deployments";
  const texts = [
    await kubectl("get", kinds, "--all-namespaces", "--output=json"),
    ...(await Promise.all(files.map((file) => readFile(join(logs, file), "utf8")))),
  ];
  const { credential } = component;
  const token = credential.slice(credential.indexOf(":") + 1);
  const forms = [token, Buffer.from(credential).toString("base64"), encodeURIComponent(credential)];
  expect(texts[0]).toContain(repository);
  expect(forms.filter((form) => texts.some((text) => text.includes(form)))).toEqual([]);
}
