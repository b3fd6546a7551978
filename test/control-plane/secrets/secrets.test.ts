import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { findCondition } from "../../../crds/conditions.ts";
import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { EnvironmentVariable } from "../../../crds/environment/overrides.schema.ts";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import { namespaceName } from "../../../crds/names.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { configSetType, environmentType, repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesSecretManager } from "../../../operator/adapters/kubernetes/secret-manager.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import type { SecretManager } from "../../../operator/ports/secret-manager.ts";
import type { Fate } from "../../support/doubles/argocd-stand-in.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { backendOnly, createWorld, type World } from "../../support/fixtures/environment-world.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";

const namespace = "ephemeral-secrets";
const sharing = {
  shared: [
    { ids: ["mail"], groups: ["shop"] },
    { labels: { share: "shop" }, groups: ["shop"] },
  ],
};
const settings = settingsFrom({ ...testSettings, secrets: sharing });
const MINUTE_MS = 60_000;

let world: World;
let manager: SecretManager;
/** How far the operator's clock is ahead. */
let aheadMs = 0;
beforeAll(async () => {
  world = await createWorld();
  manager = kubernetesSecretManager({ client: world.admin, namespace });
  const clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  await world.startOperator({ settings, clock });
}, 180_000);
afterEach(() => {
  aheadMs = 0;
});
afterAll(() => world.stop(), 60_000);

const change = (name: string, spec: object) => world.admin.patch(environmentType, { name }, { spec }, { as: "merge" });
const rotate = (name: string, variable: string, wish: string) =>
  change(name, { secrets: { rotate: { [variable]: wish } } });

function share(name: string, labels: Record<string, string>, ...values: string[]) {
  const data = Object.fromEntries(values.map((value, index) => [String(index + 1), encoded(value)]));
  const metadata = { name, namespace, labels: { ...labels, [SHARED_SECRET_LABEL]: "true" } };
  return world.admin.create(secretKind, { metadata, data });
}

const addVersion = (name: string, version: number, value: string) =>
  world.admin.patch(secretKind, { name, namespace }, { data: { [version]: encoded(value) } }, { as: "merge" });

const encoded = (value: string) => Buffer.from(value).toString("base64");

/** What a Secret in the environment's namespace holds; `undefined` when there is none of that name. */
async function held(name: string, secret = ""): Promise<Record<string, string> | undefined> {
  const found = await world.admin.find(secretKind, { name: secret, namespace: namespaceName(name) });
  const data = found && Object.entries((found.data ?? {}) as Record<string, string>);
  return data && Object.fromEntries(data.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
}

/** The Secret that the application names, and what it holds. */
async function seen(name: string) {
  const secret = (await applicationValues(world.admin, name))?.secret.name ?? "";
  return { secret, values: await held(name, secret) };
}

const podSecrets = async (name: string) => (await world.find(name))?.status?.podSecrets;

/** Lets an application fare so when it names another Secret than this, and well when it names this one. */
function decideOthers(name: string, than: string, fate: Fate): void {
  world.argocd.decide(name, ({ secret }) => ((secret as { name: string }).name === than ? "healthy" : fate));
}

async function ready(name: string, spec: EnvironmentSpec = backendOnly) {
  const made = await world.create(name, spec);
  await world.expectPhase(name, "ready");
  return { made, before: await seen(name) };
}

const secretsCondition = ({ status }: EphemeralEnvironment) => findCondition(status?.conditions, "SecretsReady");

function expectReason(name: string, reason: string): Promise<EphemeralEnvironment> {
  return world.expectState(name, `having the reason ${reason}`, (found) => secretsCondition(found)?.reason === reason);
}

const refersTo = (name: string, id: string, key = "latest"): EnvironmentVariable => ({
  name,
  secretRef: { name: id, key },
});
const withEnv = (...env: EnvironmentVariable[]): EnvironmentSpec => ({
  ...backendOnly,
  access: { groups: ["shop"] },
  overrides: { backend: { env } },
});

describe("a rotation", () => {
  test("gives one variable a new value in a new Secret; the old one stays until the new one serves", async () => {
    const { before } = await ready("rotated");
    decideOthers("rotated", before.secret, "ignored");
    await rotate("rotated", "SECRET_KEY", "leaked");
    await world.expectPhase("rotated", "updating");
    const during = await seen("rotated");
    expect(during.secret).not.toBe(before.secret);
    expect(during.values).toEqual({ ...before.values, SECRET_KEY: expect.any(String) });
    expect(during.values?.SECRET_KEY).not.toBe(before.values?.SECRET_KEY);
    expect(await held("rotated", before.secret)).toEqual(before.values);
    expect(await podSecrets("rotated")).toEqual([before.secret, during.secret]);

    decideOthers("rotated", before.secret, "healthy");
    await world.expectPhase("rotated", "ready");
    await world.reconcile("rotated");
    expect(await podSecrets("rotated")).toEqual([during.secret]);
    expect(await held("rotated", before.secret)).toBeUndefined();
    expect(await seen("rotated")).toEqual(during);
    expect((await world.find("rotated"))?.status?.secrets).toContainEqual({
      ...{ name: "SECRET_KEY", version: 2, rotation: "leaked" },
    });
  }, 60_000);

  test("is done once for each wish, and what it gave comes back after a deletion by hand", async () => {
    const { before } = await ready("rotated-once");
    await rotate("rotated-once", "API_TOKEN", "1");
    const isOther = async () => (await seen("rotated-once")).secret !== before.secret;
    await until(isOther, { what: "the first rotation", deadlineMs: 20_000 });
    await world.expectPhase("rotated-once", "ready");
    const once = await seen("rotated-once");
    await change("rotated-once", { secrets: { rotate: { API_TOKEN: "1" } }, ttlHours: 30 });
    await world.reconcile("rotated-once");
    expect(await seen("rotated-once")).toEqual(once);

    await world.admin.delete(secretKind, { name: once.secret, namespace: namespaceName("rotated-once") });
    await world.reconcile("rotated-once");
    expect(await seen("rotated-once")).toEqual(once);
  }, 60_000);

  test("that fails keeps what runs, and the next one heals it and leaves no Secret behind", async () => {
    const { made, before } = await ready("rotated-badly");
    decideOthers("rotated-badly", before.secret, "unsyncable");
    await rotate("rotated-badly", "SECRET_KEY", "1");
    await world.expectPhase("rotated-badly", "failed");
    await world.reconcile("rotated-badly");
    expect(await held("rotated-badly", before.secret)).toEqual(before.values);

    const { secret: failed } = await seen("rotated-badly");
    world.argocd.decide("rotated-badly", ({ secret }) =>
      (secret as { name: string }).name === failed ? "unsyncable" : "healthy",
    );
    await rotate("rotated-badly", "SECRET_KEY", "2");
    await world.expectPhase("rotated-badly", "ready");
    await world.reconcile("rotated-badly");
    const inventory = [...(await world.inventory(made)).keys()];
    expect(inventory.filter((title) => title.startsWith("Secret/"))).toEqual([
      `Secret/${(await seen("rotated-badly")).secret}`,
    ]);
  }, 90_000);

  test("that fails again and again leaves sixteen Secrets at most, and always the one that serves", async () => {
    const { made, before } = await ready("rotated-often");
    decideOthers("rotated-often", before.secret, "unsyncable");
    for (let wish = 1; wish <= 18; wish++) {
      await rotate("rotated-often", "SECRET_KEY", String(wish));
      const version = ({ status }: EphemeralEnvironment) =>
        status?.secrets?.find(({ name }) => name === "SECRET_KEY")?.version;
      await world.expectState("rotated-often", `rotated ${wish} times`, (found) => version(found) === wish + 1);
    }
    const kept = (await podSecrets("rotated-often")) ?? [];
    expect(kept).toHaveLength(16);
    expect([kept[0], kept.at(-1)]).toEqual([before.secret, (await seen("rotated-often")).secret]);
    const titles = [...(await world.inventory(made)).keys()].filter((title) => title.startsWith("Secret/"));
    expect(titles.sort()).toEqual(kept.map((name) => `Secret/${name}`).sort());
  }, 90_000);

  test("of what is no variable is refused, and changes nothing", async () => {
    const { before } = await ready("rotated-nothing");
    await rotate("rotated-nothing", "SECRET_KEYS", "1");
    const failed = await expectReason("rotated-nothing", "RotationUnknown");
    expect(secretsCondition(failed)?.message).toMatch(/^SECRET_KEYS:/);
    expect(await seen("rotated-nothing")).toEqual(before);
  }, 60_000);
});

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

  test("that nobody writes fails the environment after two minutes, and heals it when it comes", async () => {
    const made = await world.create("unprovided", spec);
    await expectReason("unprovided", "AwaitingValue");
    aheadMs = 1.9 * MINUTE_MS;
    await world.reconcile("unprovided");
    expect((await world.find("unprovided"))?.status?.phase).toBe("creating");
    aheadMs = 2.1 * MINUTE_MS;
    const failed = await world.expectPhase("unprovided", "failed");
    expect(secretsCondition(failed)).toMatchObject({ status: "False", reason: "AwaitingValue" });
    aheadMs = 0;
    await provide(made, "late");
    await world.reconcile("unprovided");
    await world.expectPhase("unprovided", "ready");
    expect((await seen("unprovided")).values).toMatchObject({ SECRET_KEY: "late" });
  }, 60_000);
});

test("a provided secret is awaited from when it was asked for, however long another one is", async () => {
  await world.create("asked-later", { ...backendOnly, secrets: { provided: ["SECRET_KEY"] } });
  await expectReason("asked-later", "AwaitingValue");
  aheadMs = 1.5 * MINUTE_MS;
  await change("asked-later", { secrets: { provided: ["STRIPE_KEY"] } });
  await world.expectState("asked-later", "having seen it", ({ status }) => status?.observedGeneration === 2);
  aheadMs = 3 * MINUTE_MS;
  expect((await world.reconcile("asked-later")).status?.phase).toBe("creating");
  aheadMs = 3.6 * MINUTE_MS;
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
    { name: "unshared", what: "that the settings share with nobody", groups: ["shop"], labels: { share: "nobody" } },
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

describe("a wish that can't be granted", () => {
  const NEXT = "b".repeat(40);
  const valuesOf = (name: string) => applicationValues(world.admin, name);
  const applicationRef = (name: string) => ({ name: `env-${name}`, namespace: "argocd" });
  const wishes: { name: string; wish: object; reason: string }[] = [
    { name: "rotation", wish: { secrets: { rotate: { UNKNOWN: "1" } } }, reason: "RotationUnknown" },
    { name: "sharing", wish: { secrets: { useSharedApiKeys: true } }, reason: "SharedApiKeysMissing" },
    {
      name: "plain-text",
      wish: { overrides: { backend: { env: [{ name: "SECRET_KEY", value: "seen" }] } } },
      reason: "SecretInPlainText",
    },
    {
      name: "reference",
      wish: { overrides: { backend: { env: [refersTo("THEIRS", "nobodys")] } } },
      reason: "SecretNotShared",
    },
  ];

  test.each(wishes)(
    "holds up nothing but itself: $reason",
    async ({ name: what, wish, reason }) => {
      const name = `refused-${what}`;
      const { before } = await ready(name);
      await change(name, wish);
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

  test("is granted as soon as it is another one, and not before", async () => {
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
    expect((await applicationValues(world.admin, "unmoved"))?.backend).toMatchObject({ cache: 64, env: [variable] });
    expect((await applicationValues(world.admin, "unmoved"))?.backend).not.toHaveProperty("other");
  }, 90_000);
});

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
