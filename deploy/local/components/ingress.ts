import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { kubeconfigFor } from "../kubernetes/kubeconfig.ts";
import type { CertificateAuthority, KeyPair } from "../kubernetes/pki.ts";
import { addresses, baseDomain } from "../network/addresses.ts";
import { keepRunning } from "../processes/process.ts";
import type { ClusterSite } from "../site.ts";
import type { BuiltComponent } from "./component.ts";

/** Traefik: HTTPS from loopback to pods, with one certificate for all names of the base domain. */
export const ingressComponent: BuiltComponent = {
  name: "traefik",
  after: ["access rules"],
  async start(site) {
    const alternativeNames = [`DNS:*.${baseDomain}`, `DNS:${baseDomain}`];
    const certificate = await site.ca.issue("ingress", { commonName: `*.${baseDomain}`, alternativeNames });
    const kubeconfig = await kubeconfigFor(site, "traefik", { commonName: "local:traefik" });
    const config = await writeConfig(site, certificate);
    const command = join(site.built.traefik.programs, "traefik");
    const spec = { name: "traefik", command, args: [`--configFile=${config}`], env: { KUBECONFIG: kubeconfig } };
    await keepRunning(site.folder, spec, () => accepts(site.ca));
  },
};

/** Traefik reads JSON as YAML. The two files are its static and its routing configuration. */
async function writeConfig({ folder }: ClusterSite, { certificate, key }: KeyPair): Promise<string> {
  const routing = join(folder, "traefik-tls.yaml");
  const defaultCertificate = { certFile: certificate, keyFile: key };
  await writeFile(routing, JSON.stringify({ tls: { stores: { default: { defaultCertificate } } } }));
  const start = {
    entryPoints: {
      websecure: { address: `127.0.0.1:${addresses.ingressPort}`, asDefault: true, http: { tls: {} } },
      metrics: { address: `127.0.0.1:${addresses.ingressMetricsPort}` },
    },
    metrics: { prometheus: { entryPoint: "metrics", addServicesLabels: true } },
    providers: {
      // An Application with an Ingress stays Progressing in Argo CD until the Ingress has an address.
      kubernetesIngress: { ingressEndpoint: { hostname: "localhost" }, throttleDuration: "0s" },
      file: { filename: routing, watch: false },
      providersThrottleDuration: "100ms",
    },
    global: { checkNewVersion: false, sendAnonymousUsage: false },
    log: { level: "INFO" },
  };
  const config = join(folder, "traefik.yaml");
  await writeFile(config, JSON.stringify(start, null, 2));
  return config;
}

/** True when Traefik serves its certificate, signed by the cluster's authority. */
async function accepts({ certificate }: CertificateAuthority): Promise<boolean> {
  const host = { host: "127.0.0.1", port: addresses.ingressPort, servername: `ready.${baseDomain}` };
  const socket = connect({ ...host, ca: await readFile(certificate) });
  try {
    await once(socket, "secureConnect", { signal: AbortSignal.timeout(1000) });
    return true;
  } finally {
    socket.destroy();
  }
}
