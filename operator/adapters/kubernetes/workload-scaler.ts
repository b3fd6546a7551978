import { namespaceName } from "../../../crds/names.ts";
import { insteadOf, isForbidden, isNotFound } from "../../kit/client/errors.ts";
import { deploymentKind, statefulSetKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { WorkloadScaler } from "../../ports/workload-scaler.ts";

const KINDS = { Deployment: deploymentKind, StatefulSet: statefulSetKind };

/** The WorkloadScaler port on the subresource `scale`. The policy `platform-scale` refuses whatever does not begin at zero. */
export function kubernetesWorkloadScaler(client: KubeClient): WorkloadScaler {
  return {
    async scaleFromZero({ name }, workloads) {
      const namespace = namespaceName(name);
      const body = (replicas: number) => ({ spec: { replicas } });
      const scaled = workloads.map((workload) =>
        client
          .patch(KINDS[workload.kind], { name: workload.name, namespace }, body(workload.replicas), {
            as: "merge",
            subresource: "scale",
          })
          .catch(insteadOf((error) => isNotFound(error) || isForbidden(error), undefined)),
      );
      await Promise.all(scaled);
    },
  };
}
