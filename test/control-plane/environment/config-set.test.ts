import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type ConfigSet, type ConfigSetSpec, revisionName } from "../../../crds/config-set.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { run } from "../../../deploy/local/processes/run.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { configSetType, environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { resourceQuotaKind, revisionKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import { isWrite } from "../../../operator/kit/client/request.ts";
import { backendOnly, createWorld, type World } from "../../support/fixtures/environment-world.ts";
import { until } from "../../support/fixtures/until.ts";

const namespace = "ephemeral-system";
const MINUTE_MS = 60_000;

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

const using = (name: string, version?: number): EnvironmentSpec => ({
  ...backendOnly,
  configSet: { name, ...(version === undefined ? {} : { version }) },
});

function configure(name: string, spec: ConfigSetSpec): Promise<ConfigSet> {
  return world.admin.create(configSetType, { metadata: { name, namespace }, spec });
}

function reconfigure(name: string, spec: ConfigSetSpec): Promise<ConfigSet> {
  return world.admin.patch(configSetType, { name, namespace }, [{ op: "replace", path: "/spec", value: spec }], {
    as: "json",
  });
}

function move(name: string, spec: Partial<EnvironmentSpec>): Promise<EphemeralEnvironment> {
  return world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });
}

/** The backend's variables, as the application carries them. */
async function variables(name: string): Promise<unknown> {
  return (await backendValues(name))?.env;
}

async function backendValues(name: string): Promise<Record<string, unknown> | undefined> {
  const application = await world.admin.find(applicationKind, { name: `env-${name}`, namespace: "argocd" });
  type Spec = { source: { helm: { valuesObject: { backend: Record<string, unknown> } } } } | undefined;
  return (application?.spec as Spec)?.source.helm.valuesObject.backend;
}

const revisionOf = (configSet: ConfigSet, version = configSet.metadata.generation) =>
  revisionName({ name: configSet.metadata.name, uid: configSet.metadata.uid, version });

function findRevision(configSet: ConfigSet, version?: number): Promise<WireObject | undefined> {
  return world.admin.find(revisionKind, { name: revisionOf(configSet, version), namespace });
}

const level = (value: string): ConfigSetSpec => ({ env: [{ name: "LEVEL", value }] });
const isLevel = (value: string) => [{ name: "LEVEL", value }];

function failsWith(reason: string) {
  return ({ status }: EphemeralEnvironment) =>
    status?.phase === "failed" && status.conditions?.find(({ type }) => type === "Ready")?.reason === reason;
}

describe("an environment with a config set", () => {
  test("keeps the version it was made with, until its spec names another", async () => {
    const { stop } = await world.startOperator();
    const first = await configure("kept", level("one"));
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
    const first = await configure("gone", level("one"));
    await world.create("orphaned", using("gone"));
    const made = await world.expectPhase("orphaned", "ready");
    await world.admin.delete(configSetType, { name: "gone", namespace }, { uid: first.metadata.uid });
    const second = await configure("gone", level("other"));
    expect((await world.reconcile("orphaned")).status).toMatchObject({
      ...{ phase: "ready", desiredHash: made.status?.desiredHash, configSet: made.status?.configSet },
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
    await configure("late", { ...level("one"), ttlDefaultHours: 6 });
    const ready = await world.expectPhase("early", "ready");
    expect(ready.status).toMatchObject({ configSet: { version: 1 }, ttlHours: 6 });
    await stop();
  }, 60_000);

  test("fails for a version that is not there, and runs on with the one it has", async () => {
    const { stop } = await world.startOperator();
    await configure("single", level("one"));
    await world.create("ahead", using("single"));
    const made = await world.expectPhase("ahead", "ready");
    await move("ahead", { configSet: { name: "single", version: 2 } });
    const failed = await world.expectState("ahead", "failing", failsWith("ConfigSetVersionNotFound"));
    expect(failed.status?.configSet).toEqual(made.status?.configSet);
    // What it has is held on to, and repaired.
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
    await configure("live", { ...level("one"), production: true });
    await world.create("forbidden", using("live"));
    await world.expectState("forbidden", "failing", failsWith("ConfigSetForProduction"));
    expect(await backendValues("forbidden")).toBeUndefined();
    await stop();
  }, 60_000);

  test("has its quota, its TTL and its values, below what it overrides itself", async () => {
    await world.register("tunable", { overridable: ["backend.cache.size"] });
    const { stop } = await world.startOperator();
    await configure("whole", {
      ...{ ttlDefaultHours: 6, quota: { cpu: "1500m", memory: "3Gi", pods: 7 } },
      helmValues: {
        backend: {
          ...{ replicas: 2, resources: { requests: { cpu: "100m", memory: "64Mi" } } },
          ...{ image: "elsewhere", cache: { kind: "lru", size: 1 } },
        },
      },
    });
    await world.create("configured", {
      ...{ backend: { ...backendOnly.backend, repository: "tunable" }, configSet: { name: "whole" } },
      overrides: {
        backend: { resources: { requests: { cpu: "200m" } } },
        values: [{ path: "backend.cache.size", value: "64" }],
      },
    });
    expect((await world.expectPhase("configured", "ready")).status?.ttlHours).toBe(6);
    expect(await backendValues("configured")).toMatchObject({
      ...{ replicas: 2, resources: { requests: { cpu: "200m", memory: "64Mi" } }, cache: { kind: "lru", size: 64 } },
      image: expect.stringContaining("tunable:"),
    });
    const quota = await world.admin.find(resourceQuotaKind, { name: "environment", namespace: "env-configured" });
    expect(quota?.spec).toMatchObject({
      hard: { "requests.cpu": "1500m", "limits.memory": "3Gi", "requests.memory": "3Gi", pods: "7" },
    });
    expect(quota?.spec).toMatchObject({ hard: { "requests.storage": "20Gi" } });

    await move("configured", { overrides: { values: [{ path: "backend.other", value: "1" }] } });
    await world.expectState("configured", "failing", failsWith("OverrideForbidden"));
    // What is asked for no longer goes, and what may not be asked for does not come.
    expect(await backendValues("configured")).toMatchObject({ cache: { size: 1 } });
    expect(await backendValues("configured")).not.toHaveProperty("other");
    await stop();
  }, 60_000);
});

test("a config set is listed with its version by its short name", async () => {
  await configure("listed", { description: "For a day", ttlDefaultHours: 8 });
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
  await configure("shapes", {
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
    ...{ backend: { ...backendOnly.backend, repository: "shapely" }, configSet: { name: "shapes" } },
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
    env: [{ name: "HOSTILE", value: hostile }],
  });
  await world.reconcile("shaped");
  expect(writes).toEqual(["create"]);
  await stop();
}, 60_000);

describe("a version of a config set", () => {
  /** An operator whose API server has a clock that is `minutes` ahead, by what it calls decisions from. */
  const later = (minutes: number) => ({
    serverClock: { now: async () => new Date(Date.now() + minutes * MINUTE_MS) },
  });

  test("is kept once, whoever uses it, and costs nothing on later passes", async () => {
    const first = await configure("shared", level("one"));
    const writes: string[] = [];
    const { stop } = await world.startOperator({
      onRequest: (request, next) => {
        if (isWrite(request.verb) && request.type?.kind === revisionKind.kind) writes.push(request.verb);
        return next();
      },
    });
    for (const name of ["user-1", "user-2"]) {
      await world.create(name, using("shared"));
      await world.expectPhase(name, "ready");
      await world.reconcile(name);
    }
    expect(writes).toEqual(["create"]);
    const kept = await findRevision(first);
    expect(kept).toMatchObject({ revision: 1, data: { spec: level("one") } });
    expect(kept?.metadata).not.toHaveProperty("ownerReferences");
    await stop();
  }, 60_000);

  test("comes back when somebody deletes it, while the config set still is that version", async () => {
    const first = await configure("repaired", level("one"));
    const { stop } = await world.startOperator();
    await world.create("repairer", using("repaired"));
    await world.expectPhase("repairer", "ready");
    await world.admin.delete(revisionKind, { name: revisionOf(first), namespace });
    await until(() => findRevision(first), { what: "the version being kept again", deadlineMs: 10_000 });
    await stop();
  }, 60_000);

  test("goes when it has been unused for long, and not before", async () => {
    const first = await configure("swept", level("one"));
    const { stop } = await world.startOperator();
    const made = await world.create("last-user", using("swept"));
    await world.expectPhase("last-user", "ready");
    await world.create("stayer", using("swept"));
    await world.expectPhase("stayer", "ready");
    await stop();

    const sweeper = await world.startOperator(later(11));
    await world.delete(made);
    await world.expectGone(made);
    expect((await findRevision(first))?.metadata.annotations).toBeUndefined();
    const stayer = (await world.find("stayer")) as EphemeralEnvironment;
    await world.delete(stayer);
    await world.expectGone(stayer);
    const isNoted = async () => (await findRevision(first))?.metadata.annotations !== undefined;
    await until(isNoted, { what: "being noted as unused", deadlineMs: 10_000 });
    await sweeper.stop();

    const later22 = await world.startOperator(later(22));
    await until(async () => (await findRevision(first)) === undefined, { what: "being gone", deadlineMs: 10_000 });
    await later22.stop();
  }, 90_000);

  test("stays when somebody takes it up again after it was noted as unused", async () => {
    const first = await configure("taken-up", level("one"));
    const { stop } = await world.startOperator(later(11));
    const made = await world.create("former-user", using("taken-up"));
    await world.expectPhase("former-user", "ready");
    await world.delete(made);
    await world.expectGone(made);
    const isNoted = async () => (await findRevision(first))?.metadata.annotations !== undefined;
    await until(isNoted, { what: "being noted as unused", deadlineMs: 10_000 });
    await world.create("new-user", using("taken-up"));
    await world.expectPhase("new-user", "ready");
    expect((await findRevision(first))?.metadata.annotations ?? {}).toEqual({});
    await stop();
    const sweeper = await world.startOperator(later(30));
    await world.reconcile("new-user");
    expect(await findRevision(first)).toBeDefined();
    await sweeper.stop();
  }, 90_000);
});
