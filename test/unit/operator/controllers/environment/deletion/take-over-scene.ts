import { GROUP } from "../../../../../../crds/group.ts";
import { podKind, roleBindingKind, wireKind } from "../../../../../../operator/kit/client/kinds.ts";
import type { configMaps } from "../../../../../support/fixtures/config-maps.ts";
import { CREATED } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { type Scene, scene, shop } from "./teardown-scene.ts";

/** A finalizer that is awaited by default. */
export const BALANCER = "service.kubernetes.io/load-balancer-cleanup";
/** Argo CD's finalizer of an Application. */
export const CASCADE = "resources-finalizer.argocd.argoproj.io";
export const namespace = "env-shop";
/** The RoleBinding with the platform's rights. */
export const binding = { name: "ephemeral-environment", namespace };
export const serviceKind = wireKind({
  group: "",
  version: "v1",
  kind: "Service",
  plural: "services",
  namespaced: true,
});

/** The name of the pod. */
export const patient = { name: "patient", namespace };
/** Finalizers of the RoleBinding while the platform keeps its rights. */
export const KEPT_RIGHTS = [`${GROUP}/teardown`];

type ContentKind = typeof configMaps | typeof serviceKind;

/** An object that Kubernetes has deleted, and that its finalizers hold. */
export function put(world: Scene, kind: ContentKind, name: string, finalizers: readonly string[]): void {
  putUndeleted(world, kind, name, finalizers);
  const undeleted = world.cluster.within(namespace).find(({ object }) => object.metadata.name === name);
  if (undeleted === undefined) throw new TypeError(`there is no ${name}`);
  const { object } = undeleted;
  world.cluster.put(kind, { ...object, metadata: { ...object.metadata, deletionTimestamp: CREATED } });
}

/** An object that Kubernetes deletes after the pods. */
export function putUndeleted(world: Scene, kind: ContentKind, name: string, finalizers: readonly string[]): void {
  const metadata = { name, namespace, uid: `uid-of-${name}`, resourceVersion: "1", creationTimestamp: CREATED };
  world.cluster.put(kind, { apiVersion: "v1", kind: kind.kind, metadata: { ...metadata, finalizers } });
}

/** A pod that takes an hour to stop. */
export function putPod(world: Scene): void {
  const metadata = { ...patient, uid: "pod", resourceVersion: "1", creationTimestamp: CREATED };
  const spec = { terminationGracePeriodSeconds: 3600 };
  const deleted = { ...metadata, deletionTimestamp: CREATED };
  world.cluster.put(podKind, { apiVersion: "v1", kind: "Pod", metadata: deleted, spec });
}

/** Finalizers of an object; `undefined` when it is gone. */
export const finalizersOf = (world: Scene, name: string) =>
  world.cluster.within(namespace).find(({ object }) => object.metadata.name === name)?.object.metadata.finalizers;

/** Finalizers of the RoleBinding. */
export const rightsOf = (world: Scene) => world.cluster.observe(shop, roleBindingKind, binding)?.metadata.finalizers;

/** An application blocked by Argo CD, in a namespace that is not deleted at once. */
export async function held(): Promise<Scene> {
  const world = await scene();
  world.holdApplication(CASCADE, "post-delete-finalizer.argocd.argoproj.io");
  world.holdNamespace("kubernetes");
  return world;
}
