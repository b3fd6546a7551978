import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Settings, settingsFrom } from "../../../config/settings.ts";
import { findCondition, type StepCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import type { RepositorySpec } from "../../../crds/repository/repository.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { type GitServer, startGitServer } from "../../support/doubles/git-server.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-seams.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { backendOnly, createWorld, type World } from "../../support/fixtures/environment-world.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";

const GIT = "reader:pass word/1";
const BASIC = `Basic ${Buffer.from(GIT).toString("base64")}`;
const REGISTRY = "puller:first";
const registryRef = { name: "shop-registry", key: "latest" };
const image = (name: string) => ({ repository: `registry.test/shop/${name}` });

let world: World;
/** Lets in who brings the credential; the other one everybody. */
let git: GitServer;
let elsewhere: GitServer;
let head: string;
let settings: Settings;
beforeAll(async () => {
  world = await createWorld();
  git = await startGitServer({ credentials: GIT });
  elsewhere = await startGitServer();
  head = await git.createRepository("shop", ["main"]);
  await elsewhere.createRepository("shop", ["main"]);
  const hostCredentials = [
    { id: "shop-git", hosts: [git.address] },
    { id: "shop-registry", hosts: ["registry.test"] },
    { id: "other-registry", hosts: ["registry.other.test"] },
  ];
  settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
  await store("shop-git", GIT);
  await store("shop-registry", REGISTRY);
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(async () => {
  await Promise.all([git.stop(), elsewhere.stop()]);
  await world.stop();
}, 60_000);

const encoded = (value: string) => Buffer.from(value).toString("base64");
const namespace = "ephemeral-secrets";

function store(name: string, value: string) {
  const metadata = { name, namespace, labels: { [SHARED_SECRET_LABEL]: "true" } };
  return world.admin.create(secretKind, { metadata, data: { "1": encoded(value) } });
}

const addVersion = (name: string, version: number, value: string) =>
  world.admin.patch(secretKind, { name, namespace }, { data: { [version]: encoded(value) } }, { as: "merge" });

const repositoryRef = (name: string) => ({ name, namespace: "ephemeral-system" });
const change = (name: string, spec: { readonly [F in keyof RepositorySpec]?: RepositorySpec[F] | null }) =>
  world.admin.patch(repositoryType, repositoryRef(name), { spec }, { as: "merge" });

/** A Repository of the private host, with what a test says of it. */
const register = (name: string, spec: Partial<RepositorySpec> = {}) =>
  world.register(name, { cloneUrl: `http://${git.address}/shop.git`, ...spec });

const ofMain = (repository: string) => ({ backend: { repository, branch: "main" } });
const withCommit = (repository: string) => ({ backend: { ...backendOnly.backend, repository } });

async function expectChecked(name: string, reason: string) {
  const look = async () => {
    const found = await world.admin.find(repositoryType, repositoryRef(name));
    const condition = findCondition(found?.status?.conditions, "Ready");
    return condition?.reason === reason ? { ...found?.status, message: condition.message } : undefined;
  };
  return until(look, { what: `Repository '${name}' having the reason ${reason}`, deadlineMs: 30_000 });
}

const conditionOf = ({ status }: EphemeralEnvironment, type: StepCondition) => findCondition(status?.conditions, type);

async function expectReason(name: string, type: StepCondition, reason: string) {
  const found = await world.expectState(name, `having ${reason}`, (seen) => conditionOf(seen, type)?.reason === reason);
  return { phase: found.status?.phase, ...conditionOf(found, type) };
}

const pullSecretOf = (name: string) => world.admin.find(secretKind, { name: "image-pull", namespace: `env-${name}` });

/** What the kubelet would find in the environment's Secret: the credential of each registry. */
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

describe("a private repository", () => {
  const credentialsRef = { name: "shop-git", key: "latest" };

  test("is checked and deployed with its credential, which its host is shown every time", async () => {
    const { stop } = await world.startOperator({ settings });
    await register("private", { credentialsRef });
    expect(await expectChecked("private", "Checked")).toMatchObject({ reachable: true });
    await world.create("private-one", ofMain("private"));
    const { status } = await world.expectPhase("private-one", "ready");
    expect(status?.components?.backend?.commit).toBe(head);
    expect(new Set(git.callers)).toEqual(new Set([BASIC]));
    await stop();
  }, 60_000);

  test("says what it needs where it names none, and what is wrong with the one that it names", async () => {
    const { stop } = await world.startOperator({ settings });
    await register("unnamed");
    expect(await expectChecked("unnamed", "Unreachable")).toMatchObject({
      message: expect.stringContaining("it answered 401, and was sent no credential"),
    });
    await register("unwritten", { credentialsRef: { name: "shop-git", key: "9" } });
    expect(await expectChecked("unwritten", "CredentialNotFound")).toMatchObject({
      message: expect.stringContaining("the secret manager has no 'shop-git@9'"),
    });
    await store("no-pair", "a-token-alone");
    const bound = [{ id: "no-pair", hosts: [git.address] }];
    await stop();
    const other = await world.startOperator({
      settings: settingsFrom({ ...testSettings, secrets: { hostCredentials: bound } }),
    });
    await register("unpaired", { credentialsRef: { name: "no-pair", key: "1" } });
    expect((await expectChecked("unpaired", "CredentialInvalid")).message).not.toContain("a-token-alone");
    await other.stop();
  }, 60_000);

  test("that moves to another host loses its credential: nobody is asked there, until it is back", async () => {
    const { stop } = await world.startOperator({ settings });
    await register("moving", { credentialsRef });
    await expectChecked("moving", "Checked");
    await change("moving", { cloneUrl: `http://${elsewhere.address}/shop.git` });
    const { message } = await expectChecked("moving", "CredentialNotBound");
    expect(message).toContain(`the settings bind no credential 'shop-git' to ${elsewhere.address}`);
    await world.create("moved", ofMain("moving"));
    expect(await expectReason("moved", "SourceResolved", "CredentialNotBound")).toMatchObject({
      ...{ phase: "failed", status: "False", message: expect.stringContaining("Repository 'moving'") },
    });
    expect(elsewhere.callers).toEqual([]);

    await change("moving", { cloneUrl: `http://${git.address}/shop.git` });
    await world.expectPhase("moved", "ready");
    await change("moving", { cloneUrl: `http://${elsewhere.address}/shop.git`, credentialsRef: null });
    await until(() => elsewhere.callers.length > 0, { what: "a question without a credential", deadlineMs: 30_000 });
    expect(new Set(elsewhere.callers)).toEqual(new Set([undefined]));
    await stop();
  }, 60_000);
});

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

    await addVersion("shop-registry", 2, "puller:second");
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
    const { stop } = await world.startOperator({ settings, onRequest: recording.seam });
    await register("plain");
    await register("paid", { imagePullSecretRef: registryRef });
    await world.create("plain-one", withCommit("plain"));
    await world.expectPhase("plain-one", "ready");
    const made = await world.create("paid-one", withCommit("paid"));
    await world.expectPhase("paid-one", "ready");
    const isSecret = (write: string) => write.includes("image-pull");
    const objects = (name: string) => {
      // How many statuses come on the way is the deployer's pace; what a new right is refused is sent again.
      const writes = recording.writes(name).filter((write) => !write.includes("/status "));
      return [...new Set(writes.map((write) => write.replace(/ #\d+$/, "")))].sort();
    };
    expect(objects("plain-one").filter(isSecret)).toEqual([]);
    expect(objects("paid-one").filter(isSecret)).toEqual(["create Secret image-pull"]);
    expect(objects("paid-one").filter((write) => !isSecret(write))).toEqual(objects("plain-one"));

    await change("paid", { imagePullSecretRef: null });
    const isOut = async () => (await applicationValues(world.admin, "paid-one"))?.imagePullSecrets === undefined;
    await until(isOut, { what: "the values without the Secret", deadlineMs: 30_000 });
    // It goes with the first pass in which the pods without it have answered.
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
    expect(await expectChecked("unbound", "Unreachable")).toBeDefined();
    await world.create("unbound-one", withCommit("unbound"));
    expect(await expectReason("unbound-one", "SecretsReady", "CredentialNotBound")).toMatchObject({
      phase: "failed",
      message: expect.stringContaining("spec.imagePullSecretRef of Repository 'unbound'"),
    });
    expect(await application("unbound-one")).toBeUndefined();
    await change("unbound", { imagePullSecretRef: registryRef });
    await world.expectPhase("unbound-one", "ready");
    const [before, deployed] = [await pulls("unbound-one"), await application("unbound-one")];

    await change("unbound", { image: { repository: "registry.elsewhere.test/shop" } });
    await world.reconcile("unbound-one");
    await expectReason("unbound-one", "SecretsReady", "Mirrored");
    expect(await pulls("unbound-one")).toEqual(before);
    await change("unbound", { image: image("unbound") });
    const isBack = async () => isDeepStrictEqual((await application("unbound-one"))?.spec, deployed?.spec);
    await until(isBack, { what: "the application of before", deadlineMs: 30_000 });
    await stop();
  }, 90_000);
});
