import { memoryCluster } from "../../support/doubles/memory/cluster.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { clusterSuite } from "../suites/cluster.suite.ts";

clusterSuite("in memory", async () => {
  const cluster = memoryCluster();
  return {
    cluster,
    hold: async (ref, finalizers) => cluster.hold(configMaps, ref, finalizers),
    stop: async () => undefined,
  };
});
