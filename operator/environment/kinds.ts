import type { Kind } from "../../crds/group.ts";

const core = { group: "", version: "v1" } as const;

/** The kinds that make up an environment's namespace. */
export const namespaceKind = {
  ...core,
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
} as const satisfies Kind;
export const resourceQuotaKind = {
  ...core,
  kind: "ResourceQuota",
  plural: "resourcequotas",
  namespaced: true,
} as const satisfies Kind;
export const limitRangeKind = {
  ...core,
  kind: "LimitRange",
  plural: "limitranges",
  namespaced: true,
} as const satisfies Kind;
export const secretKind = { ...core, kind: "Secret", plural: "secrets", namespaced: true } as const satisfies Kind;
export const networkPolicyKind = {
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
} as const satisfies Kind;
export const roleBindingKind = {
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
} as const satisfies Kind;
