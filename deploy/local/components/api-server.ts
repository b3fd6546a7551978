import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseManifests } from "../kubernetes/api-client.ts";
import {
  apiServerIsReady,
  etcd,
  etcdIsReady,
  kubeApiServer,
  servesAdministrators,
} from "../kubernetes/control-plane-programs.ts";
import { addresses } from "../network/addresses.ts";
import { keepRunning, recordedProcess, untilReady } from "../processes/process.ts";
import type { BuiltComponent } from "./component.ts";

/** The datastore. */
export const etcdComponent: BuiltComponent = {
  name: "etcd",
  after: [],
  start: (site) => keepRunning(site.folder, etcd(site.controlPlane), () => etcdIsReady(site.controlPlane)),
};

/**
 * The API server on the bridge's address, so that pods reach it and the outside does not. Then it serves us, who are
 * administrators; its other users come after Kubernetes' roles.
 */
export const apiServerComponent: BuiltComponent = {
  name: "kube-apiserver",
  after: ["network", "etcd"],
  async start(site) {
    const { bridge, firstService } = addresses;
    const names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"].map(
      (name) => `DNS:${name}`,
    );
    const alternativeNames = [`IP:${bridge.address}`, `IP:${firstService}`, ...names];
    const [serving, kubelet] = await Promise.all([
      site.ca.issue("kube-apiserver", { commonName: "kube-apiserver", alternativeNames }),
      site.ca.issue("kube-apiserver-kubelet-client", { commonName: "kube-apiserver-kubelet-client" }),
    ]);
    const flags = [
      "--kubelet-client-certificate",
      kubelet.certificate,
      "--kubelet-client-key",
      kubelet.key,
      "--kubelet-certificate-authority",
      site.ca.certificate,
      "--kubelet-preferred-address-types",
      "InternalIP",
      "--allow-privileged",
    ];
    await keepRunning(site.folder, kubeApiServer(site.controlPlane, serving, flags), () =>
      servesAdministrators(site.client),
    );
  },
};

/** Kubernetes' own roles, which the API server makes last in its start: programs need them, and administrators do not. */
export const rolesComponent: BuiltComponent = {
  name: "Kubernetes' roles",
  after: ["kube-apiserver"],
  async start({ folder, client }) {
    const apiServer = await recordedProcess(folder, apiServerComponent.name);
    if (apiServer === undefined) throw new TypeError(`${apiServerComponent.name} was not started`);
    await untilReady(apiServer, () => apiServerIsReady(client));
  },
};

/** The rights of the cluster's own programs. */
export const accessComponent: BuiltComponent = {
  name: "access rules",
  after: ["Kubernetes' roles"],
  async start({ client }) {
    const file = join(import.meta.dirname, "../manifests/access.yaml");
    await Promise.all(parseManifests(await readFile(file, "utf8")).map((manifest) => client.apply(manifest)));
  },
};
