import { type KubeObject, type ResourceType, resourceType } from "./objects.ts";

/** Any object as it is on the wire. */
export type WireObject = KubeObject & { readonly [field: string]: unknown };

/** A kind whose objects are read as they are on the wire. */
export const wireKind = (facts: Omit<ResourceType<WireObject>, "object">): ResourceType<WireObject> =>
  resourceType<WireObject>(facts);

const core = (kind: string, plural: string, namespaced = true) =>
  wireKind({ group: "", version: "v1", kind, plural, namespaced });

/** Kinds that every cluster has. */
export const namespaceKind = core("Namespace", "namespaces", false);
export const resourceQuotaKind = core("ResourceQuota", "resourcequotas");
export const limitRangeKind = core("LimitRange", "limitranges");
export const secretKind = core("Secret", "secrets");
export const configMapKind = core("ConfigMap", "configmaps");
export const eventKind = core("Event", "events");
export const networkPolicyKind = wireKind({
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
});
export const roleBindingKind = wireKind({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
});
export const revisionKind = wireKind({
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  namespaced: true,
});
