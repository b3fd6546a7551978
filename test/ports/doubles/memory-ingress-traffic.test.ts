import { memoryIngressTraffic } from "../../support/doubles/memory/ingress-traffic.ts";
import { ingressTrafficSuite } from "../suites/ingress-traffic.suite.ts";

ingressTrafficSuite("in memory", async () => {
  const traffic = memoryIngressTraffic();
  return {
    traffic,
    begins: async () => undefined,
    passesOn: (_instance, namespace, count) => traffic.passesOn(namespace, count),
    restarts: () => undefined,
    vanishes: async () => undefined,
    fails: traffic.fails,
    stop: async () => undefined,
  };
});
