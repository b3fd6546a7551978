import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Settings, settingsFrom } from "../../../config/settings.ts";
import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import type { RepositorySpec } from "../../../crds/repository/repository.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-interceptors.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";
import { addCredentialVersion, changeRepository, expectReason, storeCredential } from "./repository-credentials.ts";

type Chart = NonNullable<RepositorySpec["chart"]>;

const credentialsRef = { name: "shop-charts", key: "latest" };
const inGit = { repoUrl: "https://git.charts.test/charts.git", path: "shop", revision: "v1", credentialsRef };
const inHelm = { repoUrl: "https://charts.test:8443/stable", chart: "shop", version: "1.2.3", credentialsRef };
const inOci = { repoUrl: "oci://registry.charts.test/charts", chart: "shop", version: "1.2.3", credentialsRef };

let world: World;
let settings: Settings;
beforeAll(async () => {
  world = await createWorld();
  const hostCredentials = [
    { id: "shop-charts", hosts: ["git.charts.test", "charts.test:8443", "registry.charts.test"] },
    { id: "other-charts", hosts: ["charts.other.test"] },
    { id: "unwritten", hosts: ["git.charts.test"] },
  ];
  settings = settingsFrom({ ...testSettings, secrets: { hostCredentials } });
  await storeCredential(world, "shop-charts", "reader:with:colon");
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

const placeOf = (name: string) => ({ name: `env-${name}`, namespace: "argocd" });
const secretOf = (name: string) => world.admin.find(secretKind, placeOf(name));

/** The fields of the environment's Secret that Argo CD reads. */
async function loginOf(name: string): Promise<Record<string, string> | undefined> {
  const data = (await secretOf(name))?.data as Readonly<Record<string, string>> | undefined;
  return (
    data &&
    Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]))
  );
}

const untilGone = (name: string) =>
  until(async () => (await secretOf(name)) === undefined, { what: `the end of ${name}'s login`, deadlineMs: 30_000 });

/** An environment of a Repository of its own name with that chart. */
async function given(name: string, chart: Chart) {
  await world.register(name, { chart });
  return world.create(name, { backend: { ...backendOnly.backend, repository: name } });
}

/** Changes the whole chart of a Repository. */
async function moveTo(name: string, chart: Chart | null) {
  await changeRepository(world, name, { chart: null });
  if (chart !== null) await changeRepository(world, name, { chart });
}

describe("the private place of a chart", () => {
  test("of whatever kind is logged in at for the environment's project alone, and its login goes with it", async () => {
    await world.startOperator({ settings });
    const kinds = [
      ["git", inGit, inGit.repoUrl],
      ["helm", inHelm, inHelm.repoUrl],
      ["oci", inOci, `${inOci.repoUrl}/shop`],
    ] as const;
    const lives = kinds.map(async ([type, chart, url]) => {
      const name = `private-${type}`;
      const made = await given(name, chart);
      await world.expectPhase(name, "ready");
      const project = await world.admin.find(appProjectKind, placeOf(name));
      const login = { type, url, project: `env-${name}`, username: "reader", password: "with:colon" };
      expect(await loginOf(name)).toEqual(login);
      const secret = await secretOf(name);
      expect(secret?.metadata.labels).toEqual({
        ...project?.metadata.labels,
        "argocd.argoproj.io/secret-type": "repository",
      });
      expect(secret?.metadata.ownerReferences).toMatchObject([{ kind: "AppProject", uid: project?.metadata.uid }]);
      const application = await world.admin.find(applicationKind, placeOf(name));
      expect(JSON.stringify([project, application, await world.find(name)])).not.toContain("with:colon");
      await world.delete(made);
      await untilGone(name);
      await world.expectGone(made);
    });
    await Promise.all(lives);
  }, 60_000);

  test("is logged in at with the credential of now, once", async () => {
    const recording = recordWrites(concernedAmong(["renewed"]));
    await world.startOperator({ settings, onRequest: recording.interceptor });
    await given("renewed", inGit);
    await world.expectPhase("renewed", "ready");
    const writes = () => recording.writes("renewed").filter((write) => write.includes("patch Secret"));
    expect(writes()).toHaveLength(1);
    const { metadata } = (await secretOf("renewed")) ?? {};

    await addCredentialVersion(world, "shop-charts", [2, "reader:second"]);
    await world.reconcile("renewed");
    expect(await loginOf("renewed")).toMatchObject({ password: "second" });
    expect((await secretOf("renewed"))?.metadata.uid).toBe(metadata?.uid);
    expect(writes()).toHaveLength(2);
    await world.admin.delete(secretKind, placeOf("renewed"));
    await world.reconcile("renewed");
    expect(await loginOf("renewed")).toMatchObject({ password: "second" });
    await addCredentialVersion(world, "shop-charts", [3, "reader:with:colon"]);
  }, 60_000);

  test("has its login taken back when the chart moves to a host that the credential is not for, or names none", async () => {
    await world.startOperator({ settings });
    const made = await given("moving", inGit);
    await world.expectPhase("moving", "ready");
    await changeRepository(world, "moving", { chart: { ...inGit, repoUrl: "https://evil.test/charts.git" } });
    await untilGone("moving");
    await world.expectPhase("moving", "ready");
    await moveTo("moving", inHelm);
    await until(async () => (await loginOf("moving"))?.url === inHelm.repoUrl, { what: "the login elsewhere" });
    const { credentialsRef: _, ...open } = inHelm;
    await moveTo("moving", open);
    await untilGone("moving");
    await world.expectPhase("moving", "ready");
    await world.delete(made);
    await world.expectGone(made);
  }, 90_000);

  test.each([
    ["unbound", "other-charts", "CredentialNotBound"],
    ["missing", "unwritten", "CredentialNotFound"],
  ])(
    "whose credential is %s leaves an environment unmade, and says why",
    async (name, credential, reason) => {
      await world.startOperator({ settings });
      const chart = { ...inGit, credentialsRef: { name: credential, key: "latest" } };
      await given(name, chart);
      expect(await expectReason(world, name, ["ApplicationSynced", reason])).toMatchObject({
        phase: "failed",
        message: expect.stringContaining(`spec.chart.credentialsRef of Repository '${name}'`),
      });
      expect(await world.admin.find(applicationKind, placeOf(name))).toBeUndefined();
      expect(await secretOf(name)).toBeUndefined();
      await moveTo(name, inGit);
      await world.expectPhase(name, "ready");
      // Between the two changes it has the default chart.
      await until(async () => (await loginOf(name))?.username === "reader", { what: "the login", deadlineMs: 30_000 });
    },
    60_000,
  );

  test("takes over what a former environment of the name left, also after a restart, and no longer than needed", async () => {
    const left = await world.admin.create(secretKind, {
      metadata: {
        ...placeOf("again"),
        labels: { [ENVIRONMENT_UID_LABEL]: "gone", "argocd.argoproj.io/secret-type": "repository" },
      },
      data: { password: "eA==" },
    });
    const { stop } = await world.startOperator({ settings });
    const made = await given("again", inGit);
    await world.expectPhase("again", "ready");
    const taken = await secretOf("again");
    expect(taken?.metadata.uid).toBe(left.metadata.uid);
    expect(taken?.metadata.labels).toMatchObject({ [ENVIRONMENT_UID_LABEL]: made.metadata.uid });
    await stop();
    await changeRepository(world, "again", { chart: null });
    await world.startOperator({ settings });
    await untilGone("again");
  }, 60_000);
});
