import { ENVIRONMENT_UID_LABEL } from "../../../../crds/group.ts";
import { isForbidden } from "../../../../operator/kit/client/errors.ts";
import { namespaceKind } from "../../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../../operator/kit/client/kube-client.ts";
import { type KubeObject, resourceType } from "../../../../operator/kit/client/objects.ts";
import { until } from "../../fixtures/until.ts";
import { unique } from "../people.ts";

const policyBinding = resourceType<KubeObject & { readonly spec?: object }>({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
  namespaced: false,
});
const ref = { name: "environment-namespace.ephemeral-environments.dev" };

/**
 * Removes the policy that protects environments' namespaces and their label, to show the operator's own behaviour. The
 * returned function restores it.
 */
export async function liftNamespacePolicy(admin: KubeClient): Promise<() => Promise<void>> {
  const binding = await admin.find(policyBinding, ref);
  await admin.delete(policyBinding, ref);
  await until(() => isLifted(admin), { what: "the policy being lifted" });
  return async () => {
    await admin.create(policyBinding, { metadata: ref, spec: binding?.spec ?? {} });
    await until(async () => !(await isLifted(admin)), { what: "the policy being in force" });
  };
}

async function isLifted(admin: KubeClient): Promise<boolean> {
  const probe = { name: unique("unguarded-"), labels: { [ENVIRONMENT_UID_LABEL]: "none" } };
  try {
    await admin.create(namespaceKind, { metadata: probe });
    await admin.delete(namespaceKind, probe);
    return true;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return false;
  }
}
