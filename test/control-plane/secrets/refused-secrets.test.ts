import { afterAll, describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../crds/conditions.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly } from "../../support/worlds/environment-world.ts";
import { refersTo, secretScene, secretsCondition, withEnv } from "../../support/worlds/secret-scene.ts";

const { world, change, seen, ready, expectReason } = await secretScene();
afterAll(() => world.stop(), 60_000);

describe("what can't be right", () => {
  test("a secret in plain text is not rendered, and the environment says why", async () => {
    const plain = { name: "SECRET_KEY", value: "for-all-to-see" };
    await world.create("in-plain-text", withEnv(plain));
    const failed = await expectReason("in-plain-text", "SecretInPlainText");
    expect(failed.status?.phase).toBe("failed");
    expect(JSON.stringify(failed.status)).not.toContain(plain.value);
    expect(await applicationValues(world.admin, "in-plain-text")).toBeUndefined();
    await change("in-plain-text", { overrides: { backend: { env: [] } } });
    await world.expectPhase("in-plain-text", "ready");
    expect((await seen("in-plain-text")).values?.SECRET_KEY).not.toBe(plain.value);
  }, 60_000);

  test("of a running environment, it changes nothing about what runs", async () => {
    const { before } = await ready("plain-later");
    await change("plain-later", { overrides: { backend: { env: [{ name: "SECRET_KEY", value: "seen" }] } } });
    await expectReason("plain-later", "SecretInPlainText");
    expect(await seen("plain-later")).toEqual(before);
  }, 60_000);

  test("secrets that are neither generated nor given are named", async () => {
    const spec: EnvironmentSpec = { ...backendOnly, secrets: { autoGenerate: false, provided: ["API_TOKEN"] } };
    await world.create("ungiven", spec);
    const failed = await expectReason("ungiven", "SecretsMissing");
    expect(secretsCondition(failed)?.message).toMatch(/^DATABASE_PASSWORD, SECRET_KEY:/);
  }, 60_000);
});

describe("an unsatisfiable field of the spec", () => {
  const NEXT = "b".repeat(40);
  const valuesOf = (name: string) => applicationValues(world.admin, name);
  const applicationRef = (name: string) => ({ name: `env-${name}`, namespace: "argocd" });
  const fields: { name: string; spec: object; reason: string }[] = [
    { name: "rotation", spec: { secrets: { rotate: { UNKNOWN: "1" } } }, reason: "RotationUnknown" },
    { name: "sharing", spec: { secrets: { useSharedApiKeys: true } }, reason: "SharedApiKeysMissing" },
    {
      name: "plain-text",
      spec: { overrides: { backend: { env: [{ name: "SECRET_KEY", value: "seen" }] } } },
      reason: "SecretInPlainText",
    },
    {
      name: "reference",
      spec: { overrides: { backend: { env: [refersTo("THEIRS", "nobodys")] } } },
      reason: "SecretNotShared",
    },
  ];

  test.each(fields)(
    "blocks nothing else: $reason",
    async ({ name: what, spec, reason }) => {
      const name = `refused-${what}`;
      const { before } = await ready(name);
      await change(name, spec);
      await expectReason(name, reason);
      expect(await seen(name)).toEqual(before);

      const former = await world.admin.find(applicationKind, applicationRef(name));
      await world.admin.delete(applicationKind, applicationRef(name), { uid: former?.metadata.uid ?? "" });
      const isAnew = async () => {
        const found = await world.admin.find(applicationKind, applicationRef(name));
        return found !== undefined && found.metadata.uid !== former?.metadata.uid;
      };
      await until(isAnew, { what: "the application", deadlineMs: 20_000 });
      await world.admin.delete(secretKind, { name: before.secret, namespace: namespaceName(name) });
      await world.reconcile(name);
      expect(await seen(name)).toEqual(before);

      await change(name, { suspended: true, backend: { commit: NEXT } });
      const isAsleep = async () => (await valuesOf(name))?.suspended === true;
      await until(isAsleep, { what: "the suspension", deadlineMs: 20_000 });
      await change(name, { suspended: false });
      const isAwake = async () => (await valuesOf(name))?.suspended === undefined;
      await until(isAwake, { what: "the waking", deadlineMs: 20_000 });
      const runsNext = ({ status }: EphemeralEnvironment) => status?.components?.backend?.commit === NEXT;
      const running = await world.expectState(name, "running the other commit", runsNext);
      expect(running.status?.phase).toBe("failed");
      expect(secretsCondition(running)?.reason).toBe(reason);
      expect(await seen(name)).toEqual(before);

      await change(name, { secrets: null, overrides: null });
      await world.expectPhase(name, "ready");
      expect(await seen(name)).toEqual(before);
    },
    90_000,
  );

  test("takes effect as soon as it is corrected, and not before", async () => {
    const { before } = await ready("granted-later");
    await change("granted-later", { secrets: { rotate: { UNKNOWN: "1" } } });
    await expectReason("granted-later", "RotationUnknown");
    await change("granted-later", { secrets: { rotate: { UNKNOWN: null, SECRET_KEY: "1" } } });
    await world.expectPhase("granted-later", "ready");
    const { values } = await seen("granted-later");
    expect(values).toEqual({ ...before.values, SECRET_KEY: expect.any(String) });
    expect(values?.SECRET_KEY).not.toBe(before.values?.SECRET_KEY);
  }, 60_000);
});

describe("a Repository that is changed", () => {
  const variable = { name: "LEVEL", value: "info" };

  test("takes nothing from what runs, by listing a variable or an override no more", async () => {
    const repository = { name: "changing-backend", namespace: "ephemeral-system" };
    await world.register(repository.name, { overridable: ["backend.cache"], secrets: [{ name: "SECRET_KEY" }] });
    const values = [{ path: "backend.cache", value: "64" }];
    await ready("unmoved", {
      backend: { ...backendOnly.backend, repository: repository.name },
      overrides: { backend: { env: [variable] }, values },
    });
    const before = (await world.find("unmoved"))?.status;
    expect(before?.grantedValues).toEqual(["backend.cache"]);

    const lists = [{ name: "SECRET_KEY" }, { name: "LEVEL" }];
    const later = { secrets: lists, overridable: [] };
    await world.admin.patch(repositoryType, repository, { spec: later }, { as: "merge" });
    const after = await world.reconcile("unmoved");
    expect(after.status).toMatchObject({ phase: "ready", desiredHash: before?.desiredHash, secrets: before?.secrets });

    await change("unmoved", { overrides: { values: [...values, { path: "backend.other", value: "1" }] } });
    const refused = ({ status }: EphemeralEnvironment) =>
      findCondition(status?.conditions, "ConfigurationResolved")?.reason === "OverrideForbidden";
    await world.expectState("unmoved", "refused", refused);
    await change("unmoved", { suspended: true });
    const isAsleep = async () => (await applicationValues(world.admin, "unmoved"))?.suspended === true;
    await until(isAsleep, { what: "the suspension", deadlineMs: 20_000 });
    expect((await applicationValues(world.admin, "unmoved"))?.backend).toMatchObject({
      cache: 64,
      env: expect.arrayContaining([variable]),
    });
    expect((await applicationValues(world.admin, "unmoved"))?.backend).not.toHaveProperty("other");
  }, 90_000);
});
