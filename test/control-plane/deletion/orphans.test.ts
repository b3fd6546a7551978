import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL, FINALIZER, ownerLabels } from "../../../crds/group.ts";
import { namespaceName, secretStoreName } from "../../../crds/names.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { eventKind, namespaceKind, secretKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import type { ResourceType } from "../../../operator/kit/client/objects.ts";
import type { Owner } from "../../../operator/ports/cluster.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { untilCounted } from "../../support/plane/counted-quota.ts";
import { createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

const GRACE_SECONDS = 4;
const sweeping = {
  settings: settingsFrom({ ...testSettings, sweep: { everySeconds: 1, graceSeconds: GRACE_SECONDS } }),
};

let world: World;
/** The platform's client, the only one that may create namespaces with our label. */
let platform: KubeClient;
let running: RunningOperator | undefined;
beforeAll(async () => {
  world = await createWorld();
  platform = createKubeClient({ kubeConfig: world.identity.kubeConfig });
}, 180_000);
afterEach(() => running?.stop());
afterAll(async () => {
  await platform.close();
  await world.stop();
}, 60_000);

const destination = { server: "https://kubernetes.default.svc", namespace: "env-any" };
const drafts: Record<string, (owner: Owner) => Promise<WireObject>> = {
  Namespace: (owner) => makeNamespace(namespaceName(owner.name), ownerLabels(owner)),
  Application: (owner) =>
    world.admin.create(applicationKind, {
      metadata: { name: namespaceName(owner.name), namespace: "argocd", labels: ownerLabels(owner) },
      spec: { project: "default", source: { repoURL: "https://git.test/x.git" }, destination },
    } as never),
  AppProject: (owner) =>
    world.admin.create(appProjectKind, {
      metadata: { name: namespaceName(owner.name), namespace: "argocd", labels: ownerLabels(owner) },
      spec: { description: "left" },
    } as never),
  secrets: (owner) =>
    world.admin.create(secretKind, {
      metadata: { name: secretStoreName(owner), namespace: "ephemeral-secrets", labels: ownerLabels(owner) },
      data: { "SECRET_KEY.1": "eA==" },
    } as never),
};

function makeNamespace(name: string, labels: Record<string, string>): Promise<WireObject> {
  const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };
  return platform.create(namespaceKind, { metadata: { name, labels: { ...labels, ...restricted } } });
}

const orphan = (name: string): Owner => ({ name, uid: randomUUID() });
const identified = (owner: Owner) => ({ metadata: owner });
const leftOf = async (owner: Owner) => [...(await world.inventory(identified(owner))).keys()];

async function given(name: string): Promise<EphemeralEnvironment> {
  const { stop } = await world.startOperator();
  await world.create(name);
  const ready = await world.expectPhase(name, "ready");
  await untilCounted(world.admin, name);
  await stop();
  return ready;
}

async function tearAway(name: string): Promise<void> {
  await world.admin.patch(environmentType, { name }, { metadata: { finalizers: null } }, { as: "merge" });
  await world.admin.delete(environmentType, { name });
}

async function events(reason: string): Promise<string[]> {
  const { items } = await world.admin.list(eventKind, { namespace: "ephemeral-system" });
  return items.filter((event) => event.reason === reason).map(({ note }) => String(note));
}

describe("what is left of environments that are no more", () => {
  test("is reported, then removed, of every kind; what lives or is not ours does not change by a byte", async () => {
    const living = await given("living");
    const torn = await given("torn");
    await tearAway("torn");
    const lone = Object.keys(drafts).map((kind) => ({ kind, owner: orphan(`lone-${kind.toLowerCase()}`) }));
    for (const { kind, owner } of lone) await drafts[kind]?.(owner);
    const foreign = await lookalikes();
    const before = await bytes(living, foreign);

    const owners = [...lone.map(({ owner }) => owner), torn.metadata];
    running = await world.startOperator(sweeping);
    const isReported = async () => {
      const said = await events("OrphanFound");
      return owners.every(({ uid }) => said.some((message) => message.includes(uid)));
    };
    await until(isReported, { what: "every orphan being reported", deadlineMs: 30_000 });
    for (const owner of owners) expect(await leftOf(owner)).not.toEqual([]);

    for (const owner of owners) await world.expectGone(identified(owner));
    for (const { uid, name } of owners) {
      const record = await until(() => world.admin.find(recordType, { name: uid, namespace: "ephemeral-system" }), {
        what: `the record of '${name}'`,
        deadlineMs: 30_000,
      });
      expect(record.spec).toMatchObject({ name, uid, reason: "orphaned" });
    }
    expect(await bytes(living, foreign)).toEqual(before);
    const areReported = async () => (await events("OrphanRemoved")).length >= owners.length;
    await until(areReported, { what: "every removal being reported", deadlineMs: 30_000 });
  }, 180_000);

  test("stays when it is implausibly much, and goes when it is less", async () => {
    // Without living environments two are too many, whatever the settings.
    await given("beside-many");
    const owners = Array.from({ length: 6 }, (_, at) => orphan(`many-${at}`));
    for (const owner of owners) await drafts.secrets?.(owner);
    running = await world.startOperator(sweeping);
    const isHeld = async () => (await events("OrphansBlocked")).length > 0;
    await until(isHeld, { what: "the sweep being held", deadlineMs: 30_000 });
    const [first, ...others] = owners as [Owner, ...Owner[]];
    const passed = async () => (await events("OrphanFound")).filter((text) => text.includes("many-")).length === 6;
    await until(passed, { what: "every orphan being reported", deadlineMs: 30_000 });
    for (const owner of owners) expect(await leftOf(owner)).toHaveLength(1);

    const ref = { name: secretStoreName(first), namespace: "ephemeral-secrets" };
    await world.admin.delete(secretKind, ref);
    for (const owner of others) await world.expectGone(identified(owner));
  }, 120_000);
});

test("our finalizer comes back when a user removes it from a living environment", async () => {
  await given("held-again");
  running = await world.startOperator(sweeping);
  const ref = { name: "held-again" };
  await world.admin.patch(environmentType, ref, { metadata: { finalizers: null } }, { as: "merge" });
  const holds = ({ metadata }: EphemeralEnvironment) => metadata.finalizers?.includes(FINALIZER) ?? false;
  await world.expectState("held-again", "being held again", holds);
}, 60_000);

interface Foreign {
  readonly type: ResourceType<WireObject>;
  readonly name: string;
  readonly namespace?: string;
}

/** Foreign objects with the label of a missing environment. */
async function lookalikes(): Promise<Foreign[]> {
  const dead = orphan("dead");
  await makeNamespace("env-prod", { [ENVIRONMENT_UID_LABEL]: dead.uid });
  await makeNamespace("env-stage", ownerLabels(dead));
  const metadata = { name: "prod", namespace: "argocd", labels: ownerLabels(dead) };
  await world.admin.create(appProjectKind, { metadata, spec: { description: "another owner's" } } as never);
  await world.admin.create(namespaceKind, { metadata: { name: "env-unlabelled" } });
  return [
    ...["env-prod", "env-stage", "env-unlabelled"].map((name) => ({ type: namespaceKind, name })),
    { type: appProjectKind, name: "prod", namespace: "argocd" },
  ];
}

async function bytes(living: EphemeralEnvironment, foreign: readonly Foreign[]): Promise<string[]> {
  const others = await Promise.all(foreign.map(({ type, ...ref }) => world.admin.find(type, ref)));
  const own = [...(await world.inventory(living))].sort(([one], [other]) => (one < other ? -1 : 1));
  return [...own.map(([, object]) => object), ...others].map((object) => JSON.stringify(object));
}
