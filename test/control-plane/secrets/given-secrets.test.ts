import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import { MINUTE_MS } from "../../../crds/durations.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { configSetType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly } from "../../support/worlds/environment-world.ts";
import { refersTo, secretScene, secretsCondition, withEnv } from "../../support/worlds/secret-scene.ts";

const { world, manager, change, goAhead, rotate, share, addVersion, seen, ready, expectReason } = await secretScene();
afterEach(() => goAhead(0));
afterAll(() => world.stop(), 60_000);

describe("a provided secret", () => {
  const spec: EnvironmentSpec = { ...backendOnly, secrets: { provided: ["SECRET_KEY"] } };
  const provide = ({ metadata }: EphemeralEnvironment, value: string) =>
    manager.ensure(metadata, [{ name: "SECRET_KEY", version: 1, generate: () => new Sensitive(value) }]);

  test("is awaited, never generated, and then seen by the pods", async () => {
    const made = await world.create("provided", spec);
    const waiting = await expectReason("provided", "AwaitingValue");
    expect(secretsCondition(waiting)).toMatchObject({
      status: "Unknown",
      message: expect.stringMatching(/^SECRET_KEY:/),
    });
    expect(await applicationValues(world.admin, "provided")).toBeUndefined();
    await provide(made, "given");
    await world.expectPhase("provided", "ready");
    const { values } = await seen("provided");
    expect(values).toMatchObject({ SECRET_KEY: "given", API_TOKEN: expect.any(String) });
  }, 60_000);

  test("that is never written fails the environment after two minutes, and heals it when it comes", async () => {
    const made = await world.create("unprovided", spec);
    await expectReason("unprovided", "AwaitingValue");
    goAhead(1.9 * MINUTE_MS);
    await world.reconcile("unprovided");
    expect((await world.find("unprovided"))?.status?.phase).toBe("creating");
    goAhead(2.1 * MINUTE_MS);
    const failed = await world.expectPhase("unprovided", "failed");
    expect(secretsCondition(failed)).toMatchObject({ status: "False", reason: "AwaitingValue" });
    goAhead(0);
    await provide(made, "late");
    await world.reconcile("unprovided");
    await world.expectPhase("unprovided", "ready");
    expect((await seen("unprovided")).values).toMatchObject({ SECRET_KEY: "late" });
  }, 60_000);
});

test("a provided secret is awaited from when it was asked for, however long another one is", async () => {
  await world.create("asked-later", { ...backendOnly, secrets: { provided: ["SECRET_KEY"] } });
  await expectReason("asked-later", "AwaitingValue");
  goAhead(1.5 * MINUTE_MS);
  await change("asked-later", { secrets: { provided: ["STRIPE_KEY"] } });
  await world.expectState("asked-later", "having seen it", ({ status }) => status?.observedGeneration === 2);
  goAhead(3 * MINUTE_MS);
  expect((await world.reconcile("asked-later")).status?.phase).toBe("creating");
  goAhead(3.6 * MINUTE_MS);
  await world.expectPhase("asked-later", "failed");
}, 60_000);

describe("a reference", () => {
  test("brings the shared value, pinned to what was the newest, until it is to be resolved anew", async () => {
    await share("labelled", { share: "shop" }, "one", "two");
    const spec = withEnv(refersTo("LABELLED", "labelled"));
    await ready("referring", spec);
    expect((await seen("referring")).values).toMatchObject({ LABELLED: "two", SECRET_KEY: expect.any(String) });
    const { secrets } = (await world.find("referring"))?.status ?? {};
    expect(secrets).toContainEqual({ name: "LABELLED", version: 2, source: "labelled@latest" });

    await addVersion("labelled", 3, "three");
    const before = await seen("referring");
    await world.admin.delete(secretKind, { name: before.secret, namespace: namespaceName("referring") });
    await world.reconcile("referring");
    expect(await seen("referring")).toEqual(before);

    await rotate("referring", "LABELLED", "now");
    const isNewest = async () => (await seen("referring")).values?.LABELLED === "three";
    await until(isNewest, { what: "the newest value", deadlineMs: 20_000 });
    await world.expectPhase("referring", "ready");
    expect((await seen("referring")).values).toEqual({ ...before.values, LABELLED: "three" });
  }, 60_000);

  test("may repeat a value of the environment's own, and follows it", async () => {
    const { made, before } = await ready("repeating");
    const id = `repeating-${made.metadata.uid.slice(0, 8)}-SECRET_KEY`;
    await change("repeating", {
      overrides: { backend: { env: [refersTo("ALIAS", id)] } },
      secrets: { rotate: { SECRET_KEY: "1" } },
    });
    const isThere = async () => (await seen("repeating")).values?.ALIAS !== undefined;
    await until(isThere, { what: "the repeated value", deadlineMs: 20_000 });
    const { values } = await seen("repeating");
    expect(values?.ALIAS).toBe(values?.SECRET_KEY);
    expect(values?.SECRET_KEY).not.toBe(before.values?.SECRET_KEY);
  }, 60_000);

  test.each([
    { name: "unshared", what: "that the settings share with no one", groups: ["shop"], labels: { share: "none" } },
    { name: "foreign", what: "that is for other groups", groups: ["billing"], labels: { share: "shop" } },
  ])(
    "to a secret $what is refused, and its value never read",
    async ({ name, groups, labels }) => {
      await share(`secret-${name}`, labels, "theirs");
      const spec = { ...withEnv(refersTo("THEIRS", `secret-${name}`)), access: { groups } };
      await world.create(name, spec);
      const failed = await expectReason(name, "SecretNotShared");
      expect(failed.status?.phase).toBe("failed");
      expect(await applicationValues(world.admin, name)).toBeUndefined();
      await change(name, { overrides: { backend: { env: [] } } });
      await world.expectPhase(name, "ready");
      expect((await seen(name)).values).not.toHaveProperty("THEIRS");
    },
    60_000,
  );

  test("to another environment's value is refused", async () => {
    const { made } = await ready("victim");
    const id = `victim-${made.metadata.uid.slice(0, 8)}`;
    await world.create("thief", withEnv(refersTo("THEIRS", id), refersTo("OTHER", `${id}-SECRET_KEY`)));
    await expectReason("thief", "SecretNotShared");
  }, 60_000);

  test("to what is not there says so, and heals when it is", async () => {
    await world.create("early", withEnv(refersTo("MAIL", "mail", "1")));
    const failed = await expectReason("early", "SecretNotFound");
    expect(secretsCondition(failed)?.message).toContain("mail@1");
    await share("mail", {}, "arrived");
    await world.reconcile("early");
    await world.expectPhase("early", "ready");
    expect((await seen("early")).values).toMatchObject({ MAIL: "arrived" });
  }, 60_000);
});

describe("shared API keys of a config set", () => {
  const asking = (name: string, groups: string[]): EnvironmentSpec => ({
    ...backendOnly,
    configSet: { name },
    secrets: { useSharedApiKeys: true },
    access: { groups },
  });
  const configure = (name: string, spec: ConfigSetSpec) =>
    world.admin.create(configSetType, { metadata: { name, namespace: "ephemeral-system" }, spec });

  test("reach the environments that ask for them and have a group in common", async () => {
    await share("maps", { share: "shop" }, "maps-key");
    const sharedApiKeys = [{ name: "MAPS_KEY", secretRef: { name: "maps", key: "latest" } }];
    await configure("with-keys", { sharedApiKeys, access: { groups: ["shop"] } });
    await ready("keyed", asking("with-keys", ["shop"]));
    expect((await seen("keyed")).values).toMatchObject({ MAPS_KEY: "maps-key", SECRET_KEY: expect.any(String) });
    await configure("open-keys", { sharedApiKeys });
    await world.create("keyless", asking("open-keys", ["billing"]));
    await expectReason("keyless", "SecretNotShared");
  }, 60_000);

  test("are missed where the config set has none", async () => {
    await configure("without-keys", { env: [{ name: "LEVEL", value: "info" }] });
    await world.create("unkeyed", asking("without-keys", ["shop"]));
    await expectReason("unkeyed", "SharedApiKeysMissing");
  }, 60_000);
});
