import { afterAll, expect, test } from "@jest/globals";
import pLimit from "p-limit";
import { namespaceName } from "../../../crds/names.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { isNotFound } from "../../../operator/kit/client/errors.ts";
import {
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
  roleBindingKind,
  serviceAccountKind,
  type WireObject,
} from "../../../operator/kit/client/kinds.ts";
import type { ObjectRef, ResourceType } from "../../../operator/kit/client/objects.ts";
import { type Play, prepareScenes, SCENE_WORLD } from "../../support/faults/fault-scenes.ts";
import { createFaultWorld } from "../../support/faults/fault-world.ts";
import { leaks } from "../../support/faults/invariants.ts";
import { until } from "../../support/fixtures/until.ts";

/** Concurrent scenes: each mostly waits. More would delay each other beyond their deadlines. */
const SCENES_AT_ONCE = 2;

// Jest starts concurrent tests before any hook.
const world = await createFaultWorld(SCENE_WORLD);
const playAlone = await prepareScenes(world);
const inTurn = pLimit(SCENES_AT_ONCE);
const play: Play = (...scene) => inTurn(() => playAlone(...scene));
afterAll(() => world.stop(), 60_000);

const inside = (name: string) => (environment: string) => ({ name, namespace: namespaceName(environment) });
const atDeployer = (environment: string) => ({ name: namespaceName(environment), namespace: "argocd" });
const everybody = { from: [{ namespaceSelector: {} }] };
const evil = { source: { helm: { valuesObject: { backend: { image: "evil" } } } } };

test.concurrent.each<{
  what: string;
  type: ResourceType<WireObject>;
  ref: (environment: string) => ObjectRef;
  patch?: object;
}>([
  { what: "namespace", type: namespaceKind, ref: (name) => ({ name: namespaceName(name) }) },
  { what: "quota", type: resourceQuotaKind, ref: inside("environment") },
  { what: "raised-quota", type: resourceQuotaKind, ref: inside("environment"), patch: { hard: { pods: "1000" } } },
  { what: "limits", type: limitRangeKind, ref: inside("environment") },
  { what: "default-deny", type: networkPolicyKind, ref: inside("default-deny") },
  { what: "traffic", type: networkPolicyKind, ref: inside("allowed-traffic") },
  { what: "open-traffic", type: networkPolicyKind, ref: inside("allowed-traffic"), patch: { ingress: [everybody] } },
  { what: "binding", type: roleBindingKind, ref: inside("ephemeral-environment") },
  { what: "account", type: serviceAccountKind, ref: inside("default") },
  { what: "application", type: applicationKind, ref: atDeployer },
  { what: "evil-application", type: applicationKind, ref: atDeployer, patch: evil },
  { what: "project", type: appProjectKind, ref: atDeployer },
  {
    what: "wide-project",
    type: appProjectKind,
    ref: atDeployer,
    patch: { destinations: [{ server: "*", namespace: "*" }] },
  },
])(
  "a user deletes or edits the $what of every environment",
  async ({ what, type, ref, patch }) => {
    const { admin } = world.world;
    const damage = async (name: string) => {
      if (patch === undefined) await admin.delete(type, ref(name));
      else await admin.patch(type, ref(name), { spec: patch }, { as: "merge" }).catch(unlessAbsent);
    };
    await play(what, (actors) => Promise.all(actors.map(({ name }) => damage(name))));
  },
  600_000,
);

test.concurrent("the removed finalizer of living environments comes back", async () => {
  const bare = { metadata: { finalizers: null } };
  await play("finalizer", (actors) => {
    const living = actors.filter(({ lifecycle }) => lifecycle.name !== "delete");
    return Promise.all(
      living.map(async ({ name }) => {
        await until(() => world.observer.environment(name), { what: `'${name}'`, deadlineMs: 10_000 });
        await world.world.admin.patch(environmentType, { name }, bare, { as: "merge" });
      }),
    );
  });
}, 600_000);

/** The object does not exist yet, or is already gone. */
function unlessAbsent(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

test("nothing readable holds a secret", () => {
  expect(leaks(world.observer.secretValues, [world.log()])).toEqual([]);
});
