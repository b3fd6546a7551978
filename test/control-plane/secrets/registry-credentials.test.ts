import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Settings, settingsFrom } from "../../../config/settings.ts";
import type { RepositorySpec } from "../../../crds/repository/repository.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-interceptors.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";
import {
  addCredentialVersion,
  changeRepository,
  expectChecked,
  expectReason,
  storeCredential,
} from "./repository-credentials.ts";

const REGISTRY = "puller:first";
const registryRef = { name: "shop-registry", key: "latest" };
const image = (name: string) => ({ repository: `registry.test/shop/${name}` });

let world: World;
let settings: Settings;
beforeAll(async () => {
  world = await createWorld();
  const hostCredentials = [
    { id: "shop-registry", hosts: ["registry.test"] },
    { id: "other-registry", hosts: ["registry.other.test"] },
  ];
  settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
  await storeCredential(world, "shop-registry", REGISTRY);
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

const withCommit = (repository: string) => ({ backend: { ...backendOnly.backend, repository } });

const pullSecretOf = (name: string) => world.admin.find(secretKind, { name: "image-pull", namespace: `env-${name}` });

/** The credential of each registry in the environment's Secret, as the kubelet reads it. */
async function pulls(name: string): Promise<Record<string, string> | undefined> {
  const found = await pullSecretOf(name);
  if (found === undefined) return undefined;
  expect(found).toMatchObject({ type: "kubernetes.io/dockerconfigjson", immutable: true });
  const { ".dockerconfigjson": text = "" } = found.data as Record<string, string>;
  const { auths } = JSON.parse(Buffer.from(text, "base64").toString()) as { auths: Record<string, { auth: string }> };
  return Object.fromEntries(
    Object.entries(auths).map(([registry, { auth }]) => [registry, Buffer.from(auth, "base64").toString()]),
  );
}

const application = (name: string) => world.admin.find(applicationKind, { name: `env-${name}`, namespace: "argocd" });

describe("a private registry", () => {
  const register = (name: string, spec: Partial<RepositorySpec> = {}) =>
    world.register(name, { image: image(name), ...spec });

  test("is pulled from with the credential of now, and its changes restart nothing", async () => {
    const { stop } = await world.startOperator({ settings });
    await register("pulled", { imagePullSecretRef: registryRef });
    const made = await world.create("pulled-one", withCommit("pulled"));
    await world.expectPhase("pulled-one", "ready");
    expect(await pulls("pulled-one")).toEqual({ "registry.test": REGISTRY });
    expect((await applicationValues(world.admin, "pulled-one"))?.imagePullSecrets).toEqual([{ name: "image-pull" }]);
    const deployed = await application("pulled-one");

    await addCredentialVersion(world, "shop-registry", [2, "puller:second"]);
    await world.reconcile("pulled-one");
    expect(await pulls("pulled-one")).toEqual({ "registry.test": "puller:second" });
    const { metadata } = (await pullSecretOf("pulled-one")) ?? {};
    await world.admin.delete(secretKind, { name: "image-pull", namespace: "env-pulled-one" });
    await world.reconcile("pulled-one");
    expect(await pulls("pulled-one")).toEqual({ "registry.test": "puller:second" });
    const again = (await pullSecretOf("pulled-one"))?.metadata;
    expect(again?.uid).not.toBe(metadata?.uid);
    await world.reconcile("pulled-one");
    expect((await pullSecretOf("pulled-one"))?.metadata).toEqual(again);
    expect((await application("pulled-one"))?.spec).toEqual(deployed?.spec);

    await world.delete(made);
    await world.expectGone(made);
    await stop();
  }, 90_000);

  test("costs one write, and none when its Repository needs it no longer but the end of its Secret", async () => {
    const recording = recordWrites(concernedAmong(["plain-one", "paid-one"]));
    const { stop } = await world.startOperator({ settings, onRequest: recording.interceptor });
    await register("plain");
    await register("paid", { imagePullSecretRef: registryRef });
    await world.create("plain-one", withCommit("plain"));
    await world.expectPhase("plain-one", "ready");
    const made = await world.create("paid-one", withCommit("paid"));
    await world.expectPhase("paid-one", "ready");
    const isSecret = (write: string) => write.includes("image-pull");
    const objects = (name: string) => {
      // The number of intermediate statuses depends on the deployer; a write refused by a new right is repeated.
      const writes = recording.writes(name).filter((write) => !write.includes("/status "));
      return [...new Set(writes.map((write) => write.replace(/ #\d+$/, "")))].sort();
    };
    expect(objects("plain-one").filter(isSecret)).toEqual([]);
    expect(objects("paid-one").filter(isSecret)).toEqual(["create Secret image-pull"]);
    expect(objects("paid-one").filter((write) => !isSecret(write))).toEqual(objects("plain-one"));

    await changeRepository(world, "paid", { imagePullSecretRef: null });
    const isOut = async () => (await applicationValues(world.admin, "paid-one"))?.imagePullSecrets === undefined;
    await until(isOut, { what: "the values without the Secret", deadlineMs: 30_000 });
    // The Secret goes with the first reconcile after the pods without it have answered.
    const isRetired = async () => {
      await world.reconcile("paid-one");
      return !(await world.inventory(made)).has("Secret/image-pull");
    };
    await until(isRetired, { what: "the end of the Secret", deadlineMs: 30_000 });
    expect(recording.writes("paid-one").filter(isSecret)).toEqual([
      "create Secret image-pull #1",
      "delete Secret image-pull #1",
    ]);
    await stop();
  }, 90_000);

  test("whose credential can't be used leaves an environment unmade, and one that runs as it is", async () => {
    const { stop } = await world.startOperator({ settings });
    await register("unbound", { imagePullSecretRef: { name: "other-registry", key: "latest" } });
    expect(await expectChecked(world, "unbound", "Unreachable")).toBeDefined();
    await world.create("unbound-one", withCommit("unbound"));
    expect(await expectReason(world, "unbound-one", ["SecretsReady", "CredentialNotBound"])).toMatchObject({
      phase: "failed",
      message: expect.stringContaining("spec.imagePullSecretRef of Repository 'unbound'"),
    });
    expect(await application("unbound-one")).toBeUndefined();
    await changeRepository(world, "unbound", { imagePullSecretRef: registryRef });
    await world.expectPhase("unbound-one", "ready");
    const [before, deployed] = [await pulls("unbound-one"), await application("unbound-one")];

    await changeRepository(world, "unbound", { image: { repository: "registry.elsewhere.test/shop" } });
    await world.reconcile("unbound-one");
    await expectReason(world, "unbound-one", ["SecretsReady", "Mirrored"]);
    expect(await pulls("unbound-one")).toEqual(before);
    await changeRepository(world, "unbound", { image: image("unbound") });
    const isBack = async () => isDeepStrictEqual((await application("unbound-one"))?.spec, deployed?.spec);
    await until(isBack, { what: "the application of before", deadlineMs: 30_000 });
    await stop();
  }, 90_000);
});
