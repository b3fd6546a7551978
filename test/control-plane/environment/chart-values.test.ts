import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";
import { configure } from "./config-set-use.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
}, 180_000);
afterAll(() => world.stop(), 60_000);

const place = { repoUrl: "https://git.example.test/podinfo.git", path: "charts/podinfo", revision: "main" };
const COMMIT = backendOnly.backend?.commit;

async function given(values: string | undefined, more: Partial<EnvironmentSpec> = {}, overridable: string[] = []) {
  const repository = unique("mapped-");
  const name = unique("mapped-env-");
  const chart = values === undefined ? place : { ...place, values };
  await world.register(repository, { chart, overridable });
  await world.create(name, { ...backendOnly, backend: { ...backendOnly.backend, repository }, ...more });
  return { repository, name };
}

interface Spec {
  readonly source: { readonly helm: { readonly valuesObject: object }; readonly [field: string]: unknown };
  readonly destination: object;
}
async function applicationSpec(name: string): Promise<Spec> {
  const found = await world.admin.find(applicationKind, { name: namespaceName(name), namespace: "argocd" });
  return found?.spec as unknown as Spec;
}
const valuesOf = async (name: string) => (await applicationSpec(name)).source.helm.valuesObject;

const map = (repository: string, values: string) =>
  world.admin.patch(
    repositoryType,
    { name: repository, namespace: "ephemeral-system" },
    { spec: { chart: { values } } },
    { as: "merge" },
  );

async function expectRepository(name: string, reason: string): Promise<Repository> {
  let found: Repository | undefined;
  const isSo = async () => {
    found = await world.admin.find(repositoryType, { name, namespace: "ephemeral-system" });
    return findCondition(found?.status?.conditions, "Ready")?.reason === reason;
  };
  await until(isSo, { what: `Repository '${name}' being ${reason}`, deadlineMs: 30_000 });
  return found as Repository;
}

const resolved = ({ status }: EphemeralEnvironment) => findCondition(status?.conditions, "ConfigurationResolved");

describe("the chart of a Repository with values", () => {
  test("gets them, and nothing of the platform's layout", async () => {
    const { name } = await given(
      "replicaCount: ${backend.replicas}\nimage:\n  repository: ${backend.image.repository}\n  tag: ${backend.image.tag}\nport: ${backend.port}\nhosts: ['${backend.host}', 'x-${environment.name}']\ndebug: null\nlist: []\nmap: {}\npull: ${imagePullSecrets}\nenv: ${backend.env}\nui: {color: red}",
      {
        overrides: {
          backend: { env: [{ name: "LEVEL", value: "debug" }] },
          values: [{ path: "ui.color", value: '"blue"' }],
        },
      },
      ["ui.color"],
    );
    await world.expectPhase(name, "ready");
    const { source, destination } = await applicationSpec(name);
    expect(source).toMatchObject({ repoURL: place.repoUrl, path: place.path, targetRevision: "main" });
    expect(destination).toMatchObject({ namespace: namespaceName(name) });
    expect(source.helm.valuesObject).toMatchObject({
      image: { repository: expect.stringMatching(/^[^:]+(:[0-9]+)?[^:]*$/), tag: COMMIT },
      port: 8080,
      hosts: [`${name}--api.env.localhost`, `x-${name}`],
      env: [
        { name: "LEVEL", value: "debug" },
        { name: "PUBLIC_URL", value: `https://${name}--api.env.localhost:18443` },
      ],
      list: [],
      map: {},
      ui: { color: "blue" },
    });
    expect(Object.keys(source.helm.valuesObject).sort()).toEqual(
      ["debug", "env", "hosts", "image", "list", "map", "port", "ui"].sort(),
    );
  }, 60_000);

  test("is put to sleep, woken, and mapped anew; the former values go", async () => {
    const { name, repository } = await given(
      "replicas: ${backend.replicas}\nworkers: ${replicas.orZero(2)}\nformer: 1",
    );
    await world.expectPhase(name, "ready");
    expect(await valuesOf(name)).toEqual({ workers: 2, former: 1 });
    const suspended = (is: boolean) =>
      world.admin.patch(environmentType, { name }, { spec: { suspended: is } }, { as: "merge" });
    await suspended(true);
    await world.expectState(
      name,
      "asleep",
      ({ status }) => findCondition(status?.conditions, "Suspended") !== undefined,
    );
    expect(await valuesOf(name)).toEqual({ replicas: 0, workers: 0, former: 1 });
    await suspended(false);
    await map(repository, "workers: ${replicas.orZero(2)}");
    await until(async () => JSON.stringify(await valuesOf(name)) === '{"workers":2}', {
      what: "the new values",
      deadlineMs: 30_000,
    });
    await world.expectPhase(name, "ready");
  }, 60_000);

  test("of a config set has those over its own", async () => {
    const configSet = unique("mapping-");
    await configure(world, configSet, { values: "a: {b: 2}\nname: ${environment.name}" });
    const { name } = await given("a: {b: 1, c: 1}", { configSet: { name: configSet } });
    await world.expectPhase(name, "ready");
    expect(await valuesOf(name)).toEqual({ a: { b: 2, c: 1 }, name });
  }, 60_000);

  test("refuses an override of what a reference decides, by its path", async () => {
    const overrides = { values: [{ path: "image.tag", value: '"evil"' }] };
    const { name } = await given("image: {tag: '${backend.image.tag}'}", { overrides }, ["image.tag"]);
    const failed = await world.expectPhase(name, "failed");
    expect(resolved(failed)).toMatchObject({
      status: "False",
      reason: "OverrideForbidden",
      message: "spec.overrides.values 'image.tag': the platform sets it: the chart's values have a reference there",
    });
  }, 60_000);
});

describe("values that can't be read", () => {
  const message = "line 3, column 3: the same key twice";

  test("are named by the Repository and by a new environment, which is made once they are corrected", async () => {
    const { name, repository } = await given("a:\n  b: 1\n  b: 2");
    const failed = await world.expectPhase(name, "failed");
    expect(resolved(failed)).toMatchObject({
      status: "False",
      reason: "ValuesInvalid",
      message: `spec.chart.values of the backend's Repository: ${message}`,
    });
    const { status } = await expectRepository(repository, "ValuesInvalid");
    expect(findCondition(status?.conditions, "Ready")?.message).toBe(`spec.chart.values: ${message}`);
    await map(repository, "a: {b: 1}");
    await world.expectPhase(name, "ready");
    expect(await valuesOf(name)).toEqual({ a: { b: 1 } });
  }, 60_000);

  test("leave an environment as it serves, ready, until they are corrected", async () => {
    const { name, repository } = await given("a: 1");
    const before = await world.expectPhase(name, "ready");
    await map(repository, "a:\n  b: 1\n  b: 2");
    const reported = await world.expectState(name, "reported", (found) => resolved(found)?.reason === "ValuesInvalid");
    expect(reported.status?.phase).toBe("ready");
    expect(resolved(reported)).toMatchObject({ status: "Unknown", message: expect.stringContaining(message) });
    expect(reported.status?.desiredHash).toBe(before.status?.desiredHash);
    expect((await world.reconcile(name)).status?.phase).toBe("ready");
    expect(await valuesOf(name)).toEqual({ a: 1 });
    await map(repository, "a: 2");
    await until(async () => JSON.stringify(await valuesOf(name)) === '{"a":2}', {
      what: "the new values",
      deadlineMs: 30_000,
    });
    await world.expectState(name, "resolved", (found) => resolved(found)?.status === "True");
    await world.expectPhase(name, "ready");
  }, 60_000);
});
