import { expect, test } from "@jest/globals";
import { SEED_SECRET_TYPE } from "../../../../../crds/seed.schema.ts";
import type { Pod, SecretObject } from "../../../../../operator/adapters/kubernetes/pod-objects.ts";
import { secretsOfPod } from "../../../../../operator/adapters/kubernetes/pod-secrets.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const pod = {
  metadata: { name: "web", namespace: "env-shop" },
  spec: { containers: [], volumes: [{ name: "pull", secret: { secretName: "image-pull" } }] },
} as unknown as Pod;

const valuesOf = async (secret: Pick<SecretObject, "data" | "type">) =>
  (await secretsOfPod(async () => secret as SecretObject, pod)).values;

test.each([
  {
    name: "what images are pulled with counts as it is kept, as logins, and as their passwords alone",
    type: "kubernetes.io/dockerconfigjson",
    logins: ["reader:pass:word"],
  },
  { name: "a like text in another Secret counts as it is", type: "Opaque", logins: [] },
])("$name", async ({ type, logins }) => {
  const configuration = JSON.stringify({ auths: { "registry.test": { auth: base64("reader:pass:word") } } });
  const values = await valuesOf({ type, data: { ".dockerconfigjson": base64(configuration) } });
  expect(values).toEqual([configuration, ...logins, ...logins.map(() => "pass:word")]);
});

test("the file of a seed in git counts as no secret: its Job could not say why it failed", async () => {
  expect(await valuesOf({ type: SEED_SECRET_TYPE, data: { seed: base64("SELECT 1;") } })).toEqual([]);
});
