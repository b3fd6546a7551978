import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { configSetType, environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { type Pod, podType } from "../../../operator/adapters/kubernetes/pod-objects.ts";
import { eventKind, secretKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import { isWrite, type KubeRequest } from "../../../operator/kit/client/request.ts";
import { correctedClock } from "../../support/faults/skewed-clock.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
const writes: KubeRequest[] = [];
const clock = correctedClock();
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator({
    clock,
    onRequest(request, next) {
      // An Event waits for the end of a burst: it may come during the next environment's creation.
      if (isWrite(request.verb) && request.type !== eventKind) writes.push(request);
      return next();
    },
  });
}, 180_000);
afterAll(() => world.stop(), 60_000);

const withDatabase: EnvironmentSpec = { ...backendOnly, database: { provision: true } };
const provide = (name: string, provision: boolean) =>
  world.admin.patch(environmentType, { name }, { spec: { database: { provision } } }, { as: "merge" });

const databaseOf = ({ status }: EphemeralEnvironment) => findCondition(status?.conditions, "DatabaseReady");

function expectDatabase(name: string, reason: string): Promise<EphemeralEnvironment> {
  const isSo = (found: EphemeralEnvironment) =>
    found.status?.phase === "ready" &&
    found.status.observedGeneration === found.metadata.generation &&
    databaseOf(found)?.reason === reason;
  return world.expectState(name, `ready with a database that is ${reason}`, isSo);
}

async function decoded(secret: WireObject | undefined): Promise<Record<string, string>> {
  const data = Object.entries((secret?.data ?? {}) as Record<string, string>);
  return Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}

async function seen(name: string): Promise<Record<string, string>> {
  const secret = (await applicationValues(world.admin, name))?.secret.name ?? "";
  return decoded(await world.admin.find(secretKind, { name: secret, namespace: namespaceName(name) }));
}

async function stored({ metadata: { name, uid } }: EphemeralEnvironment): Promise<Record<string, string>> {
  const ref = { name: `${name}-${uid.slice(0, 8)}`, namespace: "ephemeral-secrets" };
  return decoded(await world.admin.find(secretKind, ref));
}

const valuesOf = async (name: string) => (await applicationValues(world.admin, name))?.database;
const seed = { image: "registry.test/seed:1", path: "/seed/data.sql", format: "sql" } as const;
const DATABASE = { image: "docker.io/library/postgres:18", user: "app", name: "app", sizeGi: 2 };

describe("an environment with a database", () => {
  test("has it in its application's values, and its URL in the pods' Secret alone", async () => {
    const made = await world.create("data", withDatabase);
    await expectDatabase("data", "Ready");
    expect(await valuesOf("data")).toEqual(DATABASE);
    const { DATABASE_URL: url, DATABASE_PASSWORD: password } = await seen("data");
    expect(url).toBe(`postgresql://app:${password}@database:5432/app`);
    expect(Object.keys(await stored(made)).sort()).toEqual(["API_TOKEN.1", "DATABASE_PASSWORD.1", "SECRET_KEY.1"]);
    const shown = [...(await world.inventory(made))].filter(([title]) => !/^(Secret|store)\//.test(title));
    expect(JSON.stringify(shown)).not.toContain(password);
  });

  test("is made with the writes of one without, and rests", async () => {
    const madeWith = async (name: string, spec: EnvironmentSpec) => {
      const before = writes.length;
      await world.create(name, spec);
      await world.expectPhase(name, "ready");
      await world.reconcile(name);
      // The number of status writes depends on the watches between two reconciles.
      const made = writes.slice(before).filter(({ subresource }) => subresource !== "status");
      // A write refused before a new right is effective is repeated.
      return [
        ...new Set(
          made.map(
            ({ verb, type, name: of }) => `${verb} ${type?.kind} ${of?.replace(name, "").replace(/[0-9a-f]{8}$/, "")}`,
          ),
        ),
      ].sort();
    };
    expect(await madeWith("rests", withDatabase)).toEqual(await madeWith("plain", backendOnly));
    const settled = writes.length;
    await world.reconcile("rests");
    // The only write answers the requested reconcile.
    expect(writes.length - settled).toBe(1);
  });

  test("gets and loses it without its secrets or its expiry being touched; the password stays for the next one", async () => {
    const made = await world.create("later");
    const first = await expectDatabase("later", "NotRequested");
    const [before, kept] = [await seen("later"), await stored(made)];
    expect(before).not.toHaveProperty("DATABASE_URL");

    await provide("later", true);
    const second = await expectDatabase("later", "Ready");
    expect(await valuesOf("later")).toEqual(DATABASE);
    const { DATABASE_URL: url, ...others } = await seen("later");
    expect([url, others]).toEqual([expect.stringContaining(`:${before.DATABASE_PASSWORD}@`), before]);

    await provide("later", false);
    const third = await expectDatabase("later", "NotRequested");
    expect(await valuesOf("later")).toBeUndefined();
    expect(await seen("later")).toEqual(before);
    expect(await stored(made)).toEqual(kept);
    const expiries = [first, second, third].map(({ status }) => status?.expiresAt);
    expect(new Set(expiries).size).toBe(1);
    expect(third.status?.secrets).toEqual(first.status?.secrets);
  });

  test("has it of its config set when it does not say itself", async () => {
    const metadata = { name: "stored", namespace: "ephemeral-system" };
    const database = { enabled: true, version: "17", sizeGi: 5 };
    await world.admin.create(configSetType, { metadata, spec: { database } });
    await world.create("by-config-set", { ...backendOnly, configSet: { name: "stored" } });
    await expectDatabase("by-config-set", "Ready");
    expect(await valuesOf("by-config-set")).toEqual({ ...DATABASE, image: "docker.io/library/postgres:17", sizeGi: 5 });
    await provide("by-config-set", false);
    await expectDatabase("by-config-set", "NotRequested");
    expect(await valuesOf("by-config-set")).toBeUndefined();
  });

  test("is made with a seed, which leaves the values once it is loaded, and is loaded into no other database", async () => {
    world.argocd.decide("seeded", () => "progressing");
    await world.create("seeded", { ...backendOnly, database: { provision: true, seed } });
    await world.expectState("seeded", "made with its seed", ({ status }) => status?.database?.made === true);
    world.argocd.decide("seeded", () => "healthy");
    const first = await expectDatabase("seeded", "Ready");
    expect(first.status?.database).toEqual({ made: true, seed });
    expect(await valuesOf("seeded")).toEqual({ ...DATABASE, seeded: true });

    const other = { ...seed, path: "/seed/other.sql" };
    await world.admin.patch(
      environmentType,
      { name: "seeded" },
      { spec: { database: { seed: other } } },
      { as: "merge" },
    );
    const changed = await expectDatabase("seeded", "Ready");
    expect(changed.status?.database).toEqual({ made: true, seed });
    expect(await valuesOf("seeded")).toEqual({ ...DATABASE, seeded: true });

    const without = { provision: false, seed: null };
    await world.admin.patch(environmentType, { name: "seeded" }, { spec: { database: without } }, { as: "merge" });
    await expectDatabase("seeded", "NotRequested");
    const again = { provision: true, seed: other };
    await world.admin.patch(environmentType, { name: "seeded" }, { spec: { database: again } }, { as: "merge" });
    expect((await expectDatabase("seeded", "Ready")).status?.database).toEqual({ made: true, seed: other });
  }, 60_000);

  test("sleeps with it", async () => {
    await world.create("sleeper", { ...withDatabase, suspended: true });
    await expectDatabase("sleeper", "Suspended");
    expect(await applicationValues(world.admin, "sleeper")).toMatchObject({ suspended: true, database: DATABASE });
  });

  test("fails for a database without a volume, in words of its own, until there is one", async () => {
    world.argocd.decide("volumeless", () => "progressing");
    await world.create("volumeless", withDatabase);
    await world.expectState(
      "volumeless",
      "having secrets",
      ({ status }) => findCondition(status?.conditions, "SecretsReady")?.status === "True",
    );
    await reportUnscheduledPod("volumeless");
    await world.reconcile("volumeless");
    clock.correct(300_000);
    await world.reconcile("volumeless");
    const failed = await world.expectState("volumeless", "failed", ({ status }) => status?.phase === "failed");
    expect(databaseOf(failed)).toMatchObject({ status: "False", reason: "VolumeMissing" });
    expect(databaseOf(failed)?.message).toMatch(/^database: there is no volume.*storage class.*unbound/s);
    expect(findCondition(failed.status?.conditions, "Ready")).toMatchObject({ reason: "VolumeMissing" });

    clock.correct(-300_000);
    world.argocd.decide("volumeless", () => "healthy");
    await expectDatabase("volumeless", "Ready");
  }, 60_000);
});

const SINCE = "2026-01-01T00:00:00Z";

/** An unscheduled pod of the database without a volume; no scheduler runs here. */
async function reportUnscheduledPod(environment: string): Promise<void> {
  const namespace = namespaceName(environment);
  const labels = { "app.kubernetes.io/component": "database" };
  const securityContext = {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  };
  const containers = [{ name: "postgresql", image: "postgres:18", securityContext }];
  const spec = { automountServiceAccountToken: false, containers };
  await world.admin.create(podType, { metadata: { name: "database-0", namespace, labels }, spec });
  const message = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims";
  const status: NonNullable<Pod["status"]> = {
    conditions: [
      { type: "Ready", status: "False", lastTransitionTime: SINCE },
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message },
    ],
  };
  await world.admin.patch(
    podType,
    { name: "database-0", namespace },
    { status },
    { as: "merge", subresource: "status" },
  );
}
