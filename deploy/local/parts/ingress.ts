import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { addresses, baseDomain } from "../addresses.ts";
import type { KeyPair } from "../pki.ts";
import { type ClusterSite, kubeconfigFor } from "../site.ts";
import { keepRunning, type Part } from "./part.ts";

/** Traefik: HTTPS from loopback to the pods, under one certificate for all names of the base domain. */
export const ingressPart: Part = {
  name: "traefik",
  after: ["access rules"],
  async start(site) {
    const alternativeNames = [`DNS:*.${baseDomain}`, `DNS:${baseDomain}`];
    const certificate = await site.ca.issue("ingress", { commonName: `*.${baseDomain}`, alternativeNames });
    const kubeconfig = await kubeconfigFor(site, "traefik", { commonName: "local:traefik" });
    const config = await writeConfig(site, certificate);
    const command = join(site.built.traefik.programs, "traefik");
    const spec = { name: "traefik", command, args: [`--configFile=${config}`], env: { KUBECONFIG: kubeconfig } };
    await keepRunning(site, spec, accepts);
  },
};

/** Traefik reads JSON as YAML. The two files are its start-up and its routing configuration. */
async function writeConfig({ folder }: ClusterSite, { certificate, key }: KeyPair): Promise<string> {
  const routing = join(folder, "traefik-tls.yaml");
  const defaultCertificate = { certFile: certificate, keyFile: key };
  await writeFile(routing, JSON.stringify({ tls: { stores: { default: { defaultCertificate } } } }));
  const start = {
    entryPoints: { websecure: { address: `127.0.0.1:${addresses.ingressPort}`, asDefault: true, http: { tls: {} } } },
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

async function accepts(): Promise<boolean> {
  const socket = connect(addresses.ingressPort, "127.0.0.1");
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(1000) });
    return true;
  } finally {
    socket.destroy();
  }
}
