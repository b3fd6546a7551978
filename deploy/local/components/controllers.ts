import { join } from "node:path";
import { apiClient } from "../kubernetes/api-client.ts";
import { controllersAreReady, kubeControllerManager } from "../kubernetes/control-plane-programs.ts";
import { kubeconfigFor } from "../kubernetes/kubeconfig.ts";
import { addresses } from "../network/addresses.ts";
import { keepRunning } from "../processes/process.ts";
import type { BuiltComponent } from "./component.ts";

// Controllers of address ranges and cloud machines, which this cluster lacks.
const without = ["-node-ipam-controller", "-cloud-node-lifecycle-controller", "-node-route-controller"];

/** Kubernetes' own controllers. */
export const controllerManagerComponent: BuiltComponent = {
  name: "kube-controller-manager",
  after: ["Kubernetes' roles"],
  async start(site) {
    const subject = { commonName: "system:kube-controller-manager" };
    const kubeconfig = await kubeconfigFor(site, "kube-controller-manager", subject);
    const spec = kubeControllerManager(site.controlPlane, kubeconfig, ["--controllers", ["*", ...without].join(",")]);
    await keepRunning(site.folder, spec, () => controllersAreReady(site.client));
  },
};

/** The scheduler. A port of loopback reports whether its caches are filled. */
export const schedulerComponent: BuiltComponent = {
  name: "kube-scheduler",
  after: ["Kubernetes' roles"],
  async start(site) {
    const kubeconfig = await kubeconfigFor(site, "kube-scheduler", { commonName: "system:kube-scheduler" });
    const serving = await site.ca.issue("kube-scheduler", {
      commonName: "kube-scheduler",
      alternativeNames: ["IP:127.0.0.1"],
    });
    const args = [
      "--kubeconfig",
      kubeconfig,
      "--leader-elect=false",
      "--bind-address",
      "127.0.0.1",
      "--secure-port",
      String(addresses.schedulerPort),
      "--tls-cert-file",
      serving.certificate,
      "--tls-private-key-file",
      serving.key,
    ];
    const command = join(site.built.controlplane.programs, "kube-scheduler");
    await keepRunning(site.folder, { name: "kube-scheduler", command, args }, () =>
      schedulerIsReady(site.ca.certificate),
    );
  },
};

async function schedulerIsReady(caFile: string): Promise<boolean> {
  const client = apiClient({ url: `https://127.0.0.1:${addresses.schedulerPort}`, caFile });
  try {
    return (await client.call("GET", "/readyz")).status === 200;
  } finally {
    client.close();
  }
}
