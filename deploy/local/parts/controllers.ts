import { join } from "node:path";
import { controllersAreReady, kubeControllerManager } from "../control-plane-programs.ts";
import { kubeconfigFor } from "../site.ts";
import { keepRunning, type Part, readyWhenStarted } from "./part.ts";

// They manage address ranges and machines of a cloud, of which there is none.
const without = ["-node-ipam-controller", "-cloud-node-lifecycle-controller", "-node-route-controller"];

/** The controllers of Kubernetes. */
export const controllerManagerPart: Part = {
  name: "kube-controller-manager",
  after: ["kube-apiserver"],
  async start(site) {
    const subject = { commonName: "system:kube-controller-manager" };
    const kubeconfig = await kubeconfigFor(site, "kube-controller-manager", subject);
    const spec = kubeControllerManager(site.controlPlane, kubeconfig, ["--controllers", ["*", ...without].join(",")]);
    await keepRunning(site, spec, () => controllersAreReady(site.client));
  },
};

/** The scheduler: pods to the node. */
export const schedulerPart: Part = {
  name: "kube-scheduler",
  after: ["kube-apiserver"],
  async start(site) {
    const kubeconfig = await kubeconfigFor(site, "kube-scheduler", { commonName: "system:kube-scheduler" });
    const args = ["--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port", "0"];
    const command = join(site.built.controlplane.programs, "kube-scheduler");
    await keepRunning(site, { name: "kube-scheduler", command, args }, readyWhenStarted);
  },
};
