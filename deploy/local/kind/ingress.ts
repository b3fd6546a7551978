import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";
import type { CertificateAuthority } from "../kubernetes/pki.ts";
import { baseDomain } from "../network/addresses.ts";
import { untilRolledOut } from "./tools.ts";

const manifests = join(import.meta.dirname, "manifests/traefik.yaml");
const NAMESPACE = "traefik";

/**
 * Installs Traefik with one certificate for all names of the base domain, and returns when it runs. Answers the ingress's
 * address for pods, in the form of the setting `ingressAddress`.
 */
export async function installIngress(user: ClusterUser, ca: CertificateAuthority): Promise<string> {
  const alternativeNames = [`DNS:*.${baseDomain}`, `DNS:${baseDomain}`];
  const pair = await ca.issue("ingress", { commonName: `*.${baseDomain}`, alternativeNames });
  const [certificate, key] = await Promise.all([readFile(pair.certificate, "utf8"), readFile(pair.key, "utf8")]);
  const wildcard = {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/tls",
    metadata: { name: "wildcard", namespace: NAMESPACE },
    stringData: { "tls.crt": certificate, "tls.key": key },
  };
  await kubectl(user, ["apply", "--server-side", `--filename=${manifests}`]);
  await kubectl(user, ["apply", "--server-side", "--filename=-"], { input: JSON.stringify(wildcard) });
  await untilRolledOut(user, "deployment/traefik", NAMESPACE);
  const requested = ["get", "service", "traefik", `--namespace=${NAMESPACE}`, "--output=jsonpath={.spec.clusterIP}"];
  return `${(await kubectl(user, requested)).trim()}:443`;
}
