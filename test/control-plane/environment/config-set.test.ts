import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { ConfigSet, ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { run } from "../../../deploy/build/run.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { configSetType, environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { resourceQuotaKind } from "../../../operator/kit/client/kinds.ts";
import { isWrite } from "../../../operator/kit/client/request.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";
import { configure, level, revisionOf, using } from "./config-set-use.ts";

const namespace = "ephemeral-system";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

function reconfigure(name: string, spec: ConfigSetSpec): Promise<ConfigSet> {
  return world.admin.patch(configSetType, { name, namespace }, [{ op: "replace", path: "/spec", value: spec }], {
    as: "json",
  });
}

function move(name: string, spec: Partial<EnvironmentSpec>): Promise<EphemeralEnvironment> {
  return world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });
}

async function variables(name: string): Promise<unknown> {
  return (await backendValues(name))?.env;
}

async function backendValues(name: string): Promise<Record<string, unknown> | undefined> {
  const application = await world.admin.find(applicationKind, { name: `env-${name}`, namespace: "argocd" });
  type Spec = { source: { helm: { valuesObject: { backend: Record<string, unknown> } } } } | undefined;
  return (application?.spec as Spec)?.source.helm.valuesObject.backend;
}

const isLevel = (value: string): unknown => expect.arrayContaining([{ name: "LEVEL", value }]);

function failsWith(reason: string) {
  return ({ status }: EphemeralEnvironment) =>
    status?.phase === "failed" && status.conditions?.find(({ type }) => type === "Ready")?.reason === reason;
}

describe("an environment with a config set", () => {
  test("keeps the version it was made with, until its spec names another", async () => {
    const { stop } = await world.startOperator();
    const first = await configure(world, "kept", level("one"));
    await world.create("kept-env", using("kept"));
    const made = await world.expectPhase("kept-env", "ready");
    expect(made.status?.configSet).toEqual({ name: "kept", version: 1, revision: revisionOf(first) });
    expect(await variables("kept-env")).toEqual(isLevel("one"));

    await reconfigure("kept", level("two"));
    expect((await world.reconcile("kept-env")).status?.configSet?.version).toBe(1);
    expect(await variables("kept-env")).toEqual(isLevel("one"));
    await world.create("younger-env", using("kept"));
    expect((await world.expectPhase("younger-env", "ready")).status?.configSet?.version).toBe(2);
    expect(await variables("younger-env")).toEqual(isLevel("two"));

    world.argocd.decide("kept-env", () => "ignored");
    await move("kept-env", { configSet: { name: "kept", version: 2 } });
    await world.expectPhase("kept-env", "updating");
    world.argocd.decide("kept-env", () => "healthy");
    const isMoved = ({ status }: EphemeralEnvironment) => status?.phase === "ready" && status.configSet?.version === 2;
    const moved = await world.expectState("kept-env", "having moved", isMoved);
    expect(await variables("kept-env")).toEqual(isLevel("two"));
    expect(moved.status?.secrets).toEqual(made.status?.secrets);
    expect(moved.status?.podSecrets).toEqual(made.status?.podSecrets);
    expect(moved.status?.expiresAt).toBe(made.status?.expiresAt);

    await move("kept-env", { configSet: { name: "kept", version: 1 } });
    const isBack = ({ status }: EphemeralEnvironment) => status?.phase === "ready" && status.configSet?.version === 1;
    await world.expectState("kept-env", "having moved back", isBack);
    expect(await variables("kept-env")).toEqual(isLevel("one"));
    await stop();
  }, 90_000);

  test("doesn't notice when the config set is deleted, or made anew with the same name and version", async () => {
    const { stop } = await world.startOperator();
    const first = await configure(world, "gone", level("one"));
    await world.create("orphaned", using("gone"));
    const made = await world.expectPhase("orphaned", "ready");
    await world.admin.delete(configSetType, { name: "gone", namespace }, { uid: first.metadata.uid });
    const second = await configure(world, "gone", level("other"));
    expect((await world.reconcile("orphaned")).status).toMatchObject({
      phase: "ready",
      desiredHash: made.status?.desiredHash,
      configSet: made.status?.configSet,
    });
    await world.create("successor", using("gone"));
    expect((await world.expectPhase("successor", "ready")).status?.configSet?.revision).toBe(revisionOf(second));
    expect(revisionOf(second)).not.toBe(revisionOf(first));
    expect(await variables("successor")).toEqual(isLevel("other"));
    expect(await variables("orphaned")).toEqual(isLevel("one"));
    await stop();
  }, 60_000);

  test("fails for one that is not there, and heals when it is made", async () => {
    const { stop } = await world.startOperator();
    await world.create("early", using("late"));
    await world.expectState("early", "failing", failsWith("ConfigSetNotFound"));
    await configure(world, "late", { ...level("one"), ttlDefaultHours: 6 });
    const ready = await world.expectPhase("early", "ready");
    expect(ready.status).toMatchObject({ configSet: { version: 1 }, ttlHours: 6 });
    await stop();
  }, 60_000);

  test("fails for a version that is not there, and runs on with the one it has", async () => {
    const { stop } = await world.startOperator();
    await configure(world, "single", level("one"));
    await world.create("ahead", using("single"));
    const made = await world.expectPhase("ahead", "ready");
    await move("ahead", { configSet: { name: "single", version: 2 } });
    const failed = await world.expectState("ahead", "failing", failsWith("ConfigSetVersionNotFound"));
    expect(failed.status?.configSet).toEqual(made.status?.configSet);
    // The environment keeps its version, and repairs it.
    const quota = { name: "environment", namespace: "env-ahead" };
    await world.admin.delete(resourceQuotaKind, quota);
    await until(async () => world.admin.find(resourceQuotaKind, quota), { what: "the quota", deadlineMs: 10_000 });
    expect(await variables("ahead")).toEqual(isLevel("one"));

    await reconfigure("single", level("two"));
    await world.expectPhase("ahead", "ready");
    expect(await variables("ahead")).toEqual(isLevel("two"));
    await stop();
  }, 60_000);

  test("fails for one of production, where nothing comes to run", async () => {
    const { stop } = await world.startOperator();
    await configure(world, "live", { ...level("one"), production: true });
    await world.create("forbidden", using("live"));
    await world.expectState("forbidden", "failing", failsWith("ConfigSetForProduction"));
    expect(await backendValues("forbidden")).toBeUndefined();
    await stop();
  }, 60_000);

  test("has its quota, its TTL and its values, below what it overrides itself", async () => {
    await world.register("tunable", { overridable: ["backend.cache.size"] });
    const { stop } = await world.startOperator();
    await configure(world, "whole", {
      ttlDefaultHours: 6,
      quota: { cpu: "1500m", memory: "3Gi", pods: 7 },
      helmValues: {
        backend: {
          replicas: 2,
          resources: { requests: { cpu: "100m", memory: "64Mi" } },
          image: "elsewhere",
          cache: { kind: "lru", size: 1 },
        },
      },
    });
    await world.create("configured", {
      backend: { ...backendOnly.backend, repository: "tunable" },
      configSet: { name: "whole" },
      overrides: {
        backend: { resources: { requests: { cpu: "200m" } } },
        values: [{ path: "backend.cache.size", value: "64" }],
      },
    });
    expect((await world.expectPhase("configured", "ready")).status?.ttlHours).toBe(6);
    expect(await backendValues("configured")).toMatchObject({
      replicas: 2,
      resources: { requests: { cpu: "200m", memory: "64Mi" } },
      cache: { kind: "lru", size: 64 },
      image: expect.stringContaining("tunable:"),
    });
    const quota = await world.admin.find(resourceQuotaKind, { name: "environment", namespace: "env-configured" });
    expect(quota?.spec).toMatchObject({
      hard: { "requests.cpu": "1500m", "limits.memory": "3Gi", "requests.memory": "3Gi", pods: "7" },
    });
    expect(quota?.spec).toMatchObject({ hard: { "requests.storage": "20Gi" } });

    await move("configured", { overrides: { values: [{ path: "backend.other", value: "1" }] } });
    await world.expectState("configured", "failing", failsWith("OverrideForbidden"));
    // Removed values disappear, and forbidden ones do not appear.
    expect(await backendValues("configured")).toMatchObject({ cache: { size: 1 } });
    expect(await backendValues("configured")).not.toHaveProperty("other");
    await stop();
  }, 60_000);
});

test("a config set is listed with its version by its short name", async () => {
  await configure(world, "listed", { description: "For a day", ttlDefaultHours: 8 });
  await reconfigure("listed", { ttlDefaultHours: 9, production: true });
  const { kubectl, kubeconfigPath } = world.plane;
  const table = await run(kubectl, ["--kubeconfig", kubeconfigPath, "-n", namespace, "get", "ecfg", "listed"]);
  const [head = "", row = ""] = table.split("\n");
  expect(head.split(/\s+/)).toEqual(["NAME", "VERSION", "PRODUCTION", "TTL", "AGE"]);
  expect(row.split(/\s+/).slice(0, 4)).toEqual(["listed", "2", "true", "9"]);
});

test("values of every shape reach the application as they are, and are no drift", async () => {
  await world.register("shapely", { overridable: ["backend.a.null", "backend.a.text", "backend.a.number"] });
  const hostile = '{{ .Values }} $ARGOCD_APP_NAME $(X) "\\\n\u2028 !!binary é ';
  const parts = [null, 0.1, 1e21, -0.5, [], {}, { z: 1, a: [hostile] }];
  await configure(world, "shapes", {
    env: [{ name: "HOSTILE", value: hostile }],
    helmValues: { backend: { a: { parts, null: 1, z: false } } },
  });
  const writes: string[] = [];
  const { stop } = await world.startOperator({
    onRequest: (request, next) => {
      if (isWrite(request.verb) && request.type?.kind === applicationKind.kind) writes.push(request.verb);
      return next();
    },
  });
  await world.create("shaped", {
    backend: { ...backendOnly.backend, repository: "shapely" },
    configSet: { name: "shapes" },
    overrides: {
      values: [
        { path: "backend.a.null", value: "null" },
        { path: "backend.a.text", value: JSON.stringify(hostile) },
        { path: "backend.a.number", value: "9007199254740991" },
      ],
    },
  });
  await world.expectPhase("shaped", "ready");
  expect(await backendValues("shaped")).toMatchObject({
    a: { parts, null: null, z: false, text: hostile, number: 9007199254740991 },
    env: expect.arrayContaining([{ name: "HOSTILE", value: hostile }]),
  });
  await world.reconcile("shaped");
  expect(writes).toEqual(["create"]);
  await stop();
}, 60_000);
