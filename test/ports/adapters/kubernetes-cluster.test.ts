import { namespaceName } from "../../../crds/names.ts";
import { kubernetesCluster } from "../../../operator/adapters/kubernetes/cluster.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { given, namespaceObject, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { clusterSuite } from "../suites/cluster.suite.ts";

const plane = await controlPlane();

clusterSuite("on Kubernetes", async () => {
  const kubeConfig = kubeConfigOf(plane, plane.adminToken);
  const client = createKubeClient({ kubeConfig });
  return {
    cluster: kubernetesCluster({ client, watched: new Map(), clock: systemClock }),
    async hold(ref, finalizers) {
      await client.patch(configMaps, ref, { metadata: { finalizers } }, { as: "merge" });
    },
    async home({ name, uid }) {
      const platform = callsAs(plane, { token: plane.platform.token });
      await given(platform, paths.namespaces, namespaceObject(namespaceName(name), uid));
      return namespaceName(name);
    },
    stop: () => client.close(),
  };
});
