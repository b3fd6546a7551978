import type { ApiCalls } from "./api-calls.ts";

/** Paths of the API that tests of the platform chart call. */
export const paths = {
  environments: "/apis/ephemeral-environments.dev/v1/ephemeralenvironments",
  repositories: "/apis/ephemeral-environments.dev/v1/namespaces/ephemeral-system/repositories",
  configSets: "/apis/ephemeral-environments.dev/v1/namespaces/ephemeral-system/configsets",
  apiTokens: "/apis/ephemeral-environments.dev/v1/namespaces/ephemeral-system/apitokens",
  namespaces: "/api/v1/namespaces",
  ingresses: (namespace: string) => `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`,
  services: (namespace: string) => `/api/v1/namespaces/${namespace}/services`,
  configMaps: (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`,
  secrets: (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`,
  roleBindings: (namespace: string) => `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
};

export const uidLabel = "ephemeral-environments.dev/environment-uid";

/** A small environment that every rule accepts. */
export function environmentObject(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "EphemeralEnvironment",
    metadata: { name, ...metadata },
    spec: { backend: { repository: "sample-backend", branch: "main" }, ...spec },
  };
}

/** A namespace as the platform makes it for an environment. */
export function namespaceObject(name: string, uid = "11111111-2222-4333-8444-555555555555"): object {
  const labels = { [uidLabel]: uid, "pod-security.kubernetes.io/enforce": "restricted" };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

/** Binds the platform's role inside one environment's namespace to the platform, as it does itself. */
export function roleBindingObject(change: object = {}): object {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "platform" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "ephemeral-environment" },
    subjects: [{ kind: "ServiceAccount", name: "platform", namespace: "ephemeral-system" }],
    ...change,
  };
}

/** Makes a thing that a test stands on; fails with the API server's words when it is refused. */
export async function given(calls: ApiCalls, path: string, object: object): Promise<Record<string, unknown>> {
  const reply = await calls.create(path, object);
  if (reply.status !== 201) throw new Error(`POST ${path} was answered ${reply.status}: ${reply.message}`);
  return reply.object;
}
