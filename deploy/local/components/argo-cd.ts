import { answersWell } from "../../build/wait.ts";

/**
 * The environment of Argo CD's programs: working files below `home`, the cluster's address from KUBECONFIG, and no
 * throttling of calls.
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

/** True when the program with this metrics port reports to be healthy. */
export function argoCdIsHealthy(metricsPort: number, query = ""): Promise<boolean> {
  return answersWell(`http://127.0.0.1:${metricsPort}/healthz${query}`);
}
