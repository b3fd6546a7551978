import { readdir, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { settingsFrom } from "../../../config/settings.ts";
import { findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { configSetType, environmentType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import type { Draft } from "../../../operator/kit/client/objects.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

const folder = new URL("../../../deploy/examples/", import.meta.url);
const TYPES = { EphemeralEnvironment: environmentType, Repository: repositoryType, ConfigSet: configSetType };
const namespace = "ephemeral-secrets";

async function examples(): Promise<ReadonlyMap<string, Draft<WireObject>>> {
  const files = (await readdir(folder)).filter((file) => file.endsWith(".yaml") && file !== "settings.yaml");
  const read = async (file: string) => [file, parse(await readFile(new URL(file, folder), "utf8"))] as const;
  return new Map(await Promise.all(files.map(read)));
}

let world: World;
let manifests: ReadonlyMap<string, Draft<WireObject>>;

/** The examples are applied unchanged; only the git host, the shared secrets and Argo CD are the test's. */
beforeAll(async () => {
  world = await createWorld();
  manifests = await examples();
  const { secrets } = parse(await readFile(new URL("settings.yaml", folder), "utf8"));
  const repositoryHost = { head: async () => COMMIT };
  await world.startOperator({
    settings: settingsFrom({ ...testSettings, secrets }),
    onPorts: (context) => ({ ...context, repositoryHost }),
  });
  const stored = { mail: "mail key", "payment-sandbox": "payment-sandbox key" };
  const credentials = { "example-git": "reader:token", "example-registry": "puller:token" };
  for (const [name, value] of Object.entries({ ...stored, ...credentials })) {
    const metadata = { name, namespace, labels: { [SHARED_SECRET_LABEL]: "true" } };
    await world.admin.create(secretKind, { metadata, data: { "1": Buffer.from(value).toString("base64") } });
  }
  for (const manifest of manifests.values()) await world.admin.create(typeOf(manifest), manifest);
}, 180_000);
afterAll(() => world.stop(), 60_000);

const typeOf = ({ kind }: Draft<WireObject>) => TYPES[kind as keyof typeof TYPES] as never;

describe("the examples", () => {
  test("are there for every kind that people write", () => {
    expect(new Set([...manifests.values()].map(({ kind }) => kind))).toEqual(new Set(Object.keys(TYPES)));
  });

  test("make environments that are ready", async () => {
    const environments = [...manifests.values()].filter(({ kind }) => kind === "EphemeralEnvironment");
    expect(environments).toHaveLength(3);
    for (const { metadata } of environments) await world.expectPhase(metadata.name, "ready");
  }, 60_000);

  test("make Repositories whose rules hold together", async () => {
    for (const name of ["shop-api", "shop-web", "cart-api"]) {
      await until(() => isInOrder(name), { what: `Repository '${name}' to be in order`, deadlineMs: 30_000 });
    }
  }, 60_000);

  test("make a config set that an environment has the values and the keys of", async () => {
    const found = (await world.expectPhase("hello-web", "ready")) as EphemeralEnvironment;
    expect(found.status).toMatchObject({ configSet: { name: "web", version: 1 }, ttlHours: 8 });
    const application = await world.admin.find(applicationKind, { name: "env-hello-web", namespace: "argocd" });
    const backend = { replicas: 1, env: expect.arrayContaining([{ name: "LOG_LEVEL", value: "info" }]) };
    expect(application).toMatchObject({ spec: { source: { helm: { valuesObject: { backend } } } } });
    const name = found.status?.podSecrets?.at(-1) ?? "";
    const secret = await world.admin.find(secretKind, { name, namespace: "env-hello-web" });
    const values = Object.entries((secret?.data ?? {}) as Record<string, string>);
    const revealed = Object.fromEntries(values.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
    expect(revealed).toMatchObject({ MAIL_KEY: "mail key", PAYMENT_KEY: "payment-sandbox key" });
  }, 60_000);
});

/** Referenced objects may have been applied later. */
async function isInOrder(name: string): Promise<boolean> {
  const found = await world.admin.find(repositoryType, { name, namespace: "ephemeral-system" });
  return findCondition(found?.status?.conditions, "Ready")?.status === "True";
}
