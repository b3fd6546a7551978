import { ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import { isForbidden } from "../../../operator/kit/client/errors.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { resourceType } from "../../../operator/kit/client/objects.ts";
import { until } from "../fixtures/until.ts";

const policyBinding = resourceType({
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
  namespaced: false,
});

/**
 * Takes away the policy that keeps everybody from weakening an environment's namespace, or from labelling another as one:
 * what the operator does by itself is seen then. For a control plane of the test's own.
 */
export async function liftNamespacePolicy(admin: KubeClient): Promise<void> {
  await admin.delete(policyBinding, { name: "environment-namespace.ephemeral-environments.dev" });
  const probe = { metadata: { name: "unguarded", labels: { [ENVIRONMENT_UID_LABEL]: "nobody" } } };
  const isMade = () =>
    admin.create(namespaceKind, probe).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
    });
  await until(isMade, { what: "the policy being lifted", deadlineMs: 20_000 });
}
