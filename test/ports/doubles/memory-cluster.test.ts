import { namespaceName } from "../../../crds/names.ts";
import { namespaceKind } from "../../../operator/kit/client/kinds.ts";
import { memoryCluster } from "../../support/doubles/memory/cluster.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { clusterSuite } from "../suites/cluster.suite.ts";

clusterSuite("in memory", async () => {
  const cluster = memoryCluster();
  return {
    cluster,
    hold: async (ref, finalizers) => cluster.hold(configMaps, ref, finalizers),
    async home(owner) {
      const name = namespaceName(owner.name);
      await cluster.ensure(owner, namespaceKind, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      return name;
    },
    stop: async () => undefined,
  };
});
