import { afterAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import { podSecretName } from "../../../operator/controllers/environment/desired/secret.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-interceptors.ts";
import { FIRST_POD_SECRET } from "../../support/fixtures/environment/environment-inventory.ts";
import { until } from "../../support/fixtures/until.ts";
import { secretScene, secretsCondition, sharingSettings } from "../../support/worlds/secret-scene.ts";

/** A former Secret goes with the first reconcile after the new values answered. */
const settings = { ...sharingSettings, reconcile: { ...sharingSettings.reconcile, probeSeconds: 2 } };
const ROTATED = podSecretName([
  { name: "API_TOKEN", version: 1 },
  { name: "DATABASE_PASSWORD", version: 1 },
  { name: "SECRET_KEY", version: 2 },
]);

const recording = recordWrites(concernedAmong(["in-order"]));
const { world, change, rotate, held, seen, podSecrets, decideOthers, ready, expectReason } = await secretScene({
  onRequest: recording.interceptor,
  settings,
});
afterAll(() => world.stop(), 60_000);

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
      name: "SECRET_KEY",
      version: 2,
      rotation: "leaked",
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

test("a rotation is the manager's value, the new Secret, the application, and the end of the old Secret", async () => {
  await ready("in-order");
  const before = recording.writes("in-order").length;
  await rotate("in-order", "SECRET_KEY", "1");
  const isOver = ({ status }: EphemeralEnvironment) =>
    status?.phase === "ready" && status.podSecrets?.join() === ROTATED;
  await world.expectState("in-order", "having rotated", isOver);
  const writes = recording.writes("in-order").slice(before);
  expect(writes.filter((write) => !write.startsWith("patch EphemeralEnvironment"))).toEqual([
    "patch Secret store NAME-UID #1",
    `create Secret ${ROTATED} #1`,
    "patch Application env-NAME #1",
    `delete Secret ${FIRST_POD_SECRET} #1`,
  ]);
}, 60_000);
