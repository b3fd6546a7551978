import { KubeConfig } from "@kubernetes/client-node";
import { kubernetesCluster } from "../../../operator/adapters/kubernetes/cluster.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { clusterSuite } from "../suites/cluster.suite.ts";

clusterSuite("on Kubernetes", async () => {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(controlPlane().kubeconfigPath);
  const client = createKubeClient({ kubeConfig });
  return {
    cluster: kubernetesCluster({ client, watched: new Map(), clock: systemClock }),
    async hold(ref, finalizers) {
      await client.patch(configMaps, ref, { metadata: { finalizers } }, { as: "merge" });
    },
    stop: () => client.close(),
  };
});
