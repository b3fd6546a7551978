import { type KubeObject, type ResourceType, resourceType } from "./objects.ts";

/** Any object in its wire form. */
export type WireObject = KubeObject & { readonly [field: string]: unknown };

/** A kind whose objects are read in their wire form. */
export const wireKind = (facts: Omit<ResourceType<WireObject>, "object">): ResourceType<WireObject> =>
  resourceType<WireObject>(facts);

const v1 = (group: string, kind: string, plural: string, namespaced = true) =>
  wireKind({ group, version: "v1", kind, plural, namespaced });

/** Kinds that every cluster has. */
export const namespaceKind = v1("", "Namespace", "namespaces", false);
export const resourceQuotaKind = v1("", "ResourceQuota", "resourcequotas");
export const limitRangeKind = v1("", "LimitRange", "limitranges");
export const serviceAccountKind = v1("", "ServiceAccount", "serviceaccounts");
export const secretKind = v1("", "Secret", "secrets");
export const configMapKind = v1("", "ConfigMap", "configmaps");
export const eventKind = v1("events.k8s.io", "Event", "events");
export const podKind = v1("", "Pod", "pods");
export const volumeClaimKind = v1("", "PersistentVolumeClaim", "persistentvolumeclaims");
export const volumeKind = v1("", "PersistentVolume", "persistentvolumes", false);
export const deploymentKind = v1("apps", "Deployment", "deployments");
export const statefulSetKind = v1("apps", "StatefulSet", "statefulsets");
export const revisionKind = v1("apps", "ControllerRevision", "controllerrevisions");
export const leaseKind = v1("coordination.k8s.io", "Lease", "leases");
export const networkPolicyKind = v1("networking.k8s.io", "NetworkPolicy", "networkpolicies");
export const roleBindingKind = v1("rbac.authorization.k8s.io", "RoleBinding", "rolebindings");
