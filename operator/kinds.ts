import { type ApiToken, apiTokenKind } from "../crds/api-token.ts";
import { type ConfigSet, configSetKind } from "../crds/config-set.ts";
import { type EnvironmentRecord, recordKind } from "../crds/environment/environment-record.ts";
import { type EphemeralEnvironment, environmentKind } from "../crds/environment/ephemeral-environment.ts";
import { type Repository, repositoryKind } from "../crds/repository/repository.ts";
import { type KubeObject, type ResourceType, resourceType } from "./kit/client/objects.ts";

/** Any object as it is on the wire. */
export type WireObject = KubeObject & { readonly [field: string]: unknown };

export const environmentType: ResourceType<EphemeralEnvironment> = resourceType(environmentKind);
export const repositoryType: ResourceType<Repository> = resourceType(repositoryKind);
export const configSetType: ResourceType<ConfigSet> = resourceType(configSetKind);
export const apiTokenType: ResourceType<ApiToken> = resourceType(apiTokenKind);
export const recordType: ResourceType<EnvironmentRecord> = resourceType(recordKind);

const wire = (facts: Omit<ResourceType<WireObject>, "object">) => resourceType<WireObject>(facts);
const core = { group: "", version: "v1" };
const argo = { group: "argoproj.io", version: "v1alpha1" };

/** The kinds that make up an environment's namespace. */
export const namespaceKind = wire({ ...core, kind: "Namespace", plural: "namespaces", namespaced: false });
export const resourceQuotaKind = wire({ ...core, kind: "ResourceQuota", plural: "resourcequotas", namespaced: true });
export const limitRangeKind = wire({ ...core, kind: "LimitRange", plural: "limitranges", namespaced: true });
export const secretKind = wire({ ...core, kind: "Secret", plural: "secrets", namespaced: true });
export const configMapKind = wire({ ...core, kind: "ConfigMap", plural: "configmaps", namespaced: true });
export const eventKind = wire({ ...core, kind: "Event", plural: "events", namespaced: true });
export const networkPolicyKind = wire({
  group: "networking.k8s.io",
  version: "v1",
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  namespaced: true,
});
export const roleBindingKind = wire({
  group: "rbac.authorization.k8s.io",
  version: "v1",
  kind: "RoleBinding",
  plural: "rolebindings",
  namespaced: true,
});

/** What versions of config sets are kept as. */
export const revisionKind = wire({
  group: "apps",
  version: "v1",
  kind: "ControllerRevision",
  plural: "controllerrevisions",
  namespaced: true,
});

/** Argo CD's kinds. */
export const applicationKind = wire({ ...argo, kind: "Application", plural: "applications", namespaced: true });
export const appProjectKind = wire({ ...argo, kind: "AppProject", plural: "appprojects", namespaced: true });
