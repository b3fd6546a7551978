import { memoryPodLogs } from "../support/doubles/memory/pod-logs.ts";
import { podLogsSuite } from "./suites/pod-logs.suite.ts";

podLogsSuite("the double of the pods' logs", async () => {
  const podLogs = memoryPodLogs();
  podLogs.holdFollowers();
  return { podLogs, write: podLogs.write, setReachable: podLogs.setReachable, stop: async () => undefined };
});
