import { expect, test } from "@jest/globals";
import { neededRights } from "../../../../../deploy/local/existing/rights.ts";

const manifest = (apiVersion: string, kind: string, namespace?: string) => ({
  apiVersion,
  kind,
  metadata: { name: "any", ...(namespace !== undefined && { namespace }) },
});

const requested = (...manifests: ReturnType<typeof manifest>[]) =>
  neededRights(manifests, "platform").map(({ verb, group, resource, subresource = "", namespace = "-" }) =>
    [verb, [resource, group].filter(Boolean).join("."), subresource, namespace].join(" "),
  );

const TOKEN = "create serviceaccounts token platform";

test("objects are created and changed where they are, and tokens are requested for the platform", () => {
  expect(requested(manifest("v1", "Namespace"), manifest("v1", "ConfigMap", "platform"))).toEqual([
    "create namespaces  -",
    "patch namespaces  -",
    "create configmaps  platform",
    "patch configmaps  platform",
    TOKEN,
  ]);
});

test("a kind is asked about once in each namespace", () => {
  const policy = manifest("networking.k8s.io/v1", "NetworkPolicy", "one");
  expect(requested(policy, policy, manifest("networking.k8s.io/v1", "NetworkPolicy", "two"))).toEqual([
    "create networkpolicies.networking.k8s.io  one",
    "patch networkpolicies.networking.k8s.io  one",
    "create networkpolicies.networking.k8s.io  two",
    "patch networkpolicies.networking.k8s.io  two",
    TOKEN,
  ]);
});

test("roles are given to the platform beyond what the user has", () => {
  expect(requested(manifest("rbac.authorization.k8s.io/v1", "ClusterRole"))).toEqual([
    "create clusterroles.rbac.authorization.k8s.io  -",
    "patch clusterroles.rbac.authorization.k8s.io  -",
    "escalate clusterroles.rbac.authorization.k8s.io  -",
    "bind clusterroles.rbac.authorization.k8s.io  -",
    TOKEN,
  ]);
});

test("an installer of a policy on the classes of a kind may read them", () => {
  const kinds = [
    ["storage.k8s.io/v1", "StorageClass"],
    ["policy.example.test/v1", "Quota"],
  ] as const;
  const policies = kinds.map(([apiVersion, kind]) => ({
    ...manifest("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"),
    spec: { paramKind: { apiVersion, kind } },
  }));
  expect(requested(...policies)).toEqual([
    "create validatingadmissionpolicies.admissionregistration.k8s.io  -",
    "patch validatingadmissionpolicies.admissionregistration.k8s.io  -",
    "get storageclasses.storage.k8s.io  -",
    "get quotas.policy.example.test  -",
    TOKEN,
  ]);
});
