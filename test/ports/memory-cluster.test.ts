import { configMaps } from "../support/config-maps.ts";
import { memoryCluster } from "../support/memory-cluster.ts";
import { clusterSuite } from "./cluster.suite.ts";

clusterSuite("in memory", async () => {
  const cluster = memoryCluster();
  return {
    cluster,
    hold: async (ref, finalizers) => cluster.hold(configMaps, ref, finalizers),
    stop: async () => undefined,
  };
});
