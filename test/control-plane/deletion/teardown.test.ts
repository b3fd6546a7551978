import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../crds/group.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import type { Facts, Log } from "../../../operator/kit/log.ts";
import { clockAhead } from "../../support/faults/skewed-clock.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { silentLog } from "../../support/fixtures/silent-log.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { paths } from "../../support/plane/chart/environment-objects.ts";
import { personWith } from "../../support/plane/people.ts";
import { backendOnly, COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

/** Six minutes: more than a step of a deletion may take. */
const later = { clock: clockAhead(0.1) };

async function given(name: string, spec: EnvironmentSpec = backendOnly): Promise<EphemeralEnvironment> {
  const { stop } = await world.startOperator();
  await world.create(name, spec);
  const ready = await world.expectPhase(name, "ready");
  await stop();
  return ready;
}

/** Deletes it, and runs an operator with the right time until the step. */
async function deleted(made: EphemeralEnvironment, step: string): Promise<EphemeralEnvironment> {
  const { stop } = await world.startOperator();
  await world.delete(made);
  const waits = ({ status }: EphemeralEnvironment) =>
    status?.teardown?.steps.find(({ name }) => name === step)?.state === "waiting";
  const waiting = await world.expectState(made.metadata.name, `waiting for its ${step}`, waits);
  await stop();
  return waiting;
}

const readyReason = ({ status }: EphemeralEnvironment) =>
  status?.conditions?.find(({ type }) => type === "Ready")?.reason;
const readyMessage = ({ status }: EphemeralEnvironment) =>
  status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
const isStuck = (found: EphemeralEnvironment) => readyReason(found) === "DeletionStuck";

const recordOf = ({ metadata }: EphemeralEnvironment) =>
  world.admin.find(recordType, { name: metadata.uid, namespace: "ephemeral-system" });

const force = (name: string, step: string) =>
  world.admin.patch(
    environmentType,
    { name },
    { metadata: { annotations: { [FORCE_TEARDOWN_ANNOTATION]: step } } },
    { as: "merge" },
  );

describe("a deletion that takes more than five minutes", () => {
  test("names the finalizers and conditions of a namespace that does not go, and strips none", async () => {
    const made = await given("stuck-namespace");
    const ref = { name: "env-stuck-namespace" };
    const held = { name: "held", namespace: ref.name, finalizers: ["example.test/hold"] };
    await world.admin.create(configMaps, { metadata: held });
    await world.admin.patch(namespaceKind, ref, { metadata: { finalizers: ["example.test/keep"] } }, { as: "merge" });

    const waiting = await deleted(made, "namespace");
    expect(readyReason(waiting)).toBe("Terminating");
    expect(waiting.status?.teardown?.blockers).toBeUndefined();

    const patient = await world.startOperator(later);
    const namesBoth = ({ status }: EphemeralEnvironment) => (status?.teardown?.blockers?.length ?? 0) >= 2;
    const stuck = await world.expectState("stuck-namespace", "naming what holds it", namesBoth);
    expect(isStuck(stuck)).toBe(true);
    expect(stuck.status?.teardown?.blockers).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "Namespace", name: ref.name, reason: "example.test/keep" }),
        expect.objectContaining({
          kind: "Namespace",
          name: ref.name,
          reason: "NamespaceFinalizersRemaining",
          message: expect.stringContaining("example.test/hold"),
        }),
      ]),
    );
    expect(readyMessage(stuck)).toContain("example.test/keep");
    expect(readyMessage(stuck)).toContain("example.test/hold");
    expect(readyMessage(stuck)).toContain(`${FORCE_TEARDOWN_ANNOTATION}: namespace`);
    expect((await world.admin.find(namespaceKind, ref))?.metadata.finalizers).toEqual(["example.test/keep"]);

    await world.admin.patch(configMaps, held, { metadata: { finalizers: [] } }, { as: "merge" });
    await world.admin.patch(namespaceKind, ref, { metadata: { finalizers: [] } }, { as: "merge" });
    await world.expectGone(made);
    await patient.stop();
  }, 120_000);

  test("names what the deployer says, and is taken over when an admin forces it, which is logged and recorded", async () => {
    const name = "stuck-application";
    const ref = { name: `env-${name}`, namespace: "argocd" };
    const lines: { message: string; facts: Facts | undefined }[] = [];
    const log: Log = { ...silentLog, warn: (message, facts) => void lines.push({ message, facts }) };
    const made = await given(name);
    world.argocd.decide(name, () => "undeletable");
    await deleted(made, "application");
    const settings = settingsFrom({ ...testSettings, deletion: { chartSeconds: 3600 } });
    const { stop } = await world.startOperator({ ...later, log, settings });
    const says = (reason: string) => (found: EphemeralEnvironment) =>
      isStuck(found) && (found.status?.teardown?.blockers?.some((blocker) => blocker.reason === reason) ?? false);
    const stuck = await world.expectState(name, "naming Argo CD's words", says("DeletionError"));
    expect(stuck.status?.teardown?.blockers).toEqual([
      {
        kind: "Application",
        name: ref.name,
        reason: "resources-finalizer.argocd.argoproj.io",
        message: "a finalizer that is not removed yet",
      },
      { kind: "Application", name: ref.name, reason: "DeletionError", message: "the cluster does not answer" },
    ]);

    await force(name, "everything");
    const reported = (found: EphemeralEnvironment) =>
      readyMessage(found).includes("names 'everything', which is not a step");
    await world.expectState(name, "telling that this is not a step", reported);
    await force(name, "namespace");
    const untouched = await world.reconcile(name);
    expect(untouched.status?.teardown?.steps.map(({ state }) => state)).toEqual([
      "gone",
      "waiting",
      ...Array(5).fill("pending"),
    ]);

    await force(name, "application");
    await world.expectGone(made);
    expect((await recordOf(made))?.spec).toMatchObject({
      reason: "deleted",
      phase: "ready",
      takenOver: expect.stringContaining("the cluster does not answer"),
    });
    expect(lines.find(({ message }) => message === "the platform took over a deletion")?.facts).toMatchObject({
      environment: name,
      uid: made.metadata.uid,
    });
    await stop();
  }, 120_000);

  test("can be forced by users with the verb assign, and by no others", async () => {
    const made = await world.create("not-yours");
    const verbs = ["get", "patch", "update", "delete"];
    const resources = ["ephemeralenvironments"];
    const developer = await personWith(world.plane, [{ apiGroups: ["ephemeral-environments.dev"], resources, verbs }]);
    const change = { metadata: { annotations: { [FORCE_TEARDOWN_ANNOTATION]: "namespace" } } };
    const path = `${paths.environments}/${made.metadata.name}`;
    const maintainer = await personWith(world.plane, "ephemeral-environments-maintain");
    const mayRead = async () => (await maintainer.get(path)).status === 200;
    await until(mayRead, { what: "the maintainer's rights" });
    expect(await developer.patch(path, change)).toMatchObject({ status: 403 });
    expect(await maintainer.patch(path, change)).toMatchObject({ status: 200 });
    expect(await developer.patch(path, { metadata: { annotations: null } })).toMatchObject({ status: 403 });
    await world.delete(made);
    await Promise.all([developer.leave(), maintainer.leave()]);
  }, 60_000);
});

test("what remains of an environment is one record with all that is asked for later", async () => {
  const owner = { subject: "https://issuer.test#dev", email: "dev@example.test", name: "Dev" };
  const trigger = { kind: "pull_request" as const, provider: "repohost", repository: "g/shop", number: 7 };
  const spec = { ...backendOnly, ttlHours: 48, owner, trigger, access: { groups: ["shop-team"] } };
  const made = await given("remembered", spec);
  const { stop } = await world.startOperator();
  await world.delete(made);
  await world.expectGone(made);
  const record = await recordOf(made);
  const { uid, creationTimestamp: createdAt } = made.metadata;
  expect(record?.metadata.labels).toMatchObject({ "ephemeral-environments.dev/environment": "remembered" });
  expect(record?.spec).toMatchObject({
    name: "remembered",
    uid,
    reason: "deleted",
    phase: "ready",
    createdAt,
    readyAt: made.status?.readyAt,
    components: { backend: { repository: "test-backend", branch: "main", commit: COMMIT } },
    owner,
    trigger,
    groups: ["shop-team"],
    ttlHours: 48,
    databaseProvisioned: false,
  });
  expect(record?.spec.forced).toBeUndefined();
  const { deletedAt = "", goneAt = "", teardownSeconds } = record?.spec ?? {};
  expect(teardownSeconds).toBe(Math.max(0, Math.round((Date.parse(goneAt) - Date.parse(deletedAt)) / 1000)));
  await stop();
}, 60_000);
