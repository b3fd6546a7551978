import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Condition } from "../../../crds/conditions.ts";
import { answersWell } from "../../build/wait.ts";
import { runFolder } from "../folders.ts";
import { kubeconfigFor } from "../kubernetes/kubeconfig.ts";
import { addresses, nodeName } from "../network/addresses.ts";
import { controlGroup } from "../processes/control-groups.ts";
import { mountOnce } from "../processes/mounts.ts";
import { keepRunning } from "../processes/process.ts";
import type { ClusterSite } from "../site.ts";
import type { BuiltComponent } from "./component.ts";
import { containerdSocket } from "./container-runtime.ts";

/**
 * The kubelet's state and the pods' logs: bind mounts, because a socket's path is limited to 107 bytes and the kubelet
 * accepts only ASCII in a log path. The checkout's path may break both rules.
 */
const folders = { state: join(runFolder, "kubelet"), logs: join(runFolder, "pod-logs") };

/** The kubelet. It authenticates and authorizes callers by the API server, and is ready when the node is. */
export const kubeletComponent: BuiltComponent = {
  name: "kubelet",
  after: ["Kubernetes' roles", "containerd", "images"],
  async start(site) {
    const { address } = addresses.bridge;
    const subject = { commonName: `system:node:${nodeName}`, organization: "system:nodes" };
    const kubeconfig = await kubeconfigFor(site, "kubelet", subject);
    const alternativeNames = [`IP:${address}`, `DNS:${nodeName}`];
    const serving = await site.ca.issue("kubelet", { commonName: nodeName, alternativeNames });
    await mountFolders(site);
    const config = join(site.folder, "kubelet.json");
    await writeFile(config, JSON.stringify(kubeletConfiguration(site, serving), null, 2));
    const args = [
      "--config",
      config,
      "--kubeconfig",
      kubeconfig,
      "--root-dir",
      folders.state,
      "--hostname-override",
      nodeName,
      "--node-ip",
      address,
      "--cert-dir",
      join(site.folder, "kubelet-pki"),
    ];
    const command = join(site.built.controlplane.programs, "kubelet");
    await keepRunning(site.folder, { name: "kubelet", command, args }, () => nodeIsReady(site));
  },
};

async function mountFolders({ folder }: ClusterSite): Promise<void> {
  for (const [source, target] of [
    [join(folder, "kubelet"), folders.state],
    [join(folder, "pod-logs"), folders.logs],
  ] as const) {
    await mkdir(source, { recursive: true });
    await mountOnce(source, target);
  }
}

/** kube-proxy with nftables rules for Services. */
export const kubeProxyComponent: BuiltComponent = {
  name: "kube-proxy",
  after: ["Kubernetes' roles"],
  async start(site) {
    const kubeconfig = await kubeconfigFor(site, "kube-proxy", { commonName: "system:kube-proxy" });
    const config = join(site.folder, "kube-proxy.json");
    await writeFile(config, JSON.stringify(kubeProxyConfiguration(kubeconfig), null, 2));
    const command = join(site.built.controlplane.programs, "kube-proxy");
    await keepRunning(site.folder, { name: "kube-proxy", command, args: ["--config", config] }, () =>
      answersWell(`http://127.0.0.1:${addresses.kubeProxyHealthPort}/healthz`),
    );
  },
};

function kubeProxyConfiguration(kubeconfig: string): object {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig },
    hostnameOverride: nodeName,
    clusterCIDR: addresses.bridge.network,
    mode: "nftables",
    nftables: {
      masqueradeAll: true,
      minSyncPeriod: "50ms",
      syncPeriod: "30s",
    },
    conntrack: { maxPerCore: 0, tcpEstablishedTimeout: "0s", tcpCloseWaitTimeout: "0s" },
    healthzBindAddress: `127.0.0.1:${addresses.kubeProxyHealthPort}`,
    metricsBindAddress: `127.0.0.1:${addresses.kubeProxyMetricsPort}`,
  };
}

async function nodeIsReady({ client }: ClusterSite): Promise<boolean> {
  const node = await client.find(`/api/v1/nodes/${nodeName}`);
  const { conditions } = (node?.status ?? {}) as { conditions?: Pick<Condition, "type" | "status">[] };
  return conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

function kubeletConfiguration(site: ClusterSite, serving: { certificate: string; key: string }): object {
  const { address } = addresses.bridge;
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    address,
    healthzPort: 0,
    clusterDNS: [address],
    clusterDomain: "cluster.local",
    resolvConf: "",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: site.ca.certificate },
    },
    authorization: { mode: "Webhook" },
    tlsCertFile: serving.certificate,
    tlsPrivateKeyFile: serving.key,
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    makeIPTablesUtilChains: false,
    cgroupDriver: "cgroupfs",
    cgroupRoot: controlGroup,
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    localStorageCapacityIsolation: false,
    imageGCHighThresholdPercent: 100,
    evictionHard: { "imagefs.available": "0%", "nodefs.available": "0%", "memory.available": "50Mi" },
    maxPods: 500,
    podLogsDir: folders.logs,
    serializeImagePulls: false,
    nodeStatusUpdateFrequency: "5s",
    kubeAPIQPS: 200,
    kubeAPIBurst: 400,
  };
}
