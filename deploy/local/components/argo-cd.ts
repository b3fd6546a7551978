import { answersWell } from "../../build/wait.ts";

/**
 * The environment of Argo CD's programs: their working files below `home`, the cluster's own address from KUBECONFIG, and
 * no throttling of their calls.
 */
export function argoCdEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    TMPDIR: home,
    ARGOCD_FAKE_IN_CLUSTER: "true",
    ARGOCD_GPG_ENABLED: "false",
    ARGOCD_GIT_MODULES_ENABLED: "false",
    ARGOCD_K8S_CLIENT_QPS: "200",
    ARGOCD_K8S_CLIENT_BURST: "400",
    ARGOCD_SYNC_WAVE_DELAY: "0",
    ARGOCD_CLUSTER_CACHE_EVENTS_PROCESSING_INTERVAL: "20ms",
  };
}

/** Whether the program that has this metrics port says that it is well. */
export function argoCdIsHealthy(metricsPort: number, query = ""): Promise<boolean> {
  return answersWell(`http://127.0.0.1:${metricsPort}/healthz${query}`);
}
