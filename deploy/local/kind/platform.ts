import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { run } from "../../build/run.ts";
import { sampleImage } from "../components/images.ts";
import type { LocalRepositories } from "../git/repositories.ts";
import { accountDomain } from "../identity/accounts.ts";
import { commandLineClientId, toolClientId } from "../identity/clients.ts";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";
import type { CertificateAuthority } from "../kubernetes/pki.ts";
import { addresses, baseDomain, forwards, localIssuer } from "../network/addresses.ts";
import { platformAccount } from "../platform/chart.ts";
import { apiUrl } from "../platform/settings.ts";
import { type Bridge, nodePorts } from "./cluster.ts";
import type { Images } from "./images.ts";

const chart = resolve(import.meta.dirname, "../../charts/platform");
const { namespace } = platformAccount;
const AUTHORITIES = "authorities";
const DEADLINE_MS = 8 * 60_000;

/** Facts about the cluster and this machine that an installation needs. */
export interface Surroundings {
  readonly bridge: Bridge;
  readonly repositories: LocalRepositories;
  /** Addresses of the ingress for pods. */
  readonly ingressAddress: string;
  readonly images: Pick<Images, "platform" | "fingerprint">;
}

/** The chart's values, as a platform team would write them. */
export function kindValues({ bridge, repositories, ingressAddress, images }: Surroundings) {
  const { address, network } = bridge;
  const pods = {
    // Forces a rollout for an image of the same name.
    podAnnotations: { "ephemeral-environments.dev/image": images.fingerprint },
    // The authority of the ingress and of the tokens' keys replaces the image's own.
    volumes: [{ name: AUTHORITIES, configMap: { name: AUTHORITIES } }],
    volumeMounts: [{ name: AUTHORITIES, mountPath: "/etc/ssl/certs", readOnly: true }],
  };
  return {
    image: images.platform,
    operator: pods,
    gate: { ...pods, enabled: true, ingress: { enabled: true } },
    // Requests of this machine arrive from the node, through its port.
    networkPolicy: { apiFrom: [{ ipBlock: { cidr: network } }] },
    settings: {
      baseDomain,
      publicPort: addresses.ingressPort,
      ingressAddress,
      publicUrl: apiUrl,
      defaultChart: { repoUrl: asPodsSee(repositories.chart.url, bridge), path: ".", revision: "main" },
      activity: { ingress: { controller: "traefik", urls: ["http://traefik-metrics.traefik:9100/metrics"] } },
      isolation: {
        ingressFrom: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "traefik" } } }],
      },
      api: {
        trustedProxyHops: 0,
        issuers: [
          {
            issuer: localIssuer,
            audience: [toolClientId, commandLineClientId],
            commandLine: { clientId: commandLineClientId, flows: ["loopback", "device"] },
            jwksUri: `https://${address}:${forwards.identityProvider.port}/jwks`,
            requiredClaims: { hd: [accountDomain] },
            defaultRole: "developer",
            roles: { maintainer: ["platform-maintainers"], admin: ["platform-admins"] },
          },
        ],
      },
    },
  };
}

/**
 * Installs or upgrades the platform by helm, registers the sample's Repositories, and exposes the REST interface to this
 * machine.
 */
export async function installPlatform(
  user: ClusterUser,
  helm: string,
  { ca, ...surroundings }: Surroundings & { readonly ca: CertificateAuthority },
): Promise<void> {
  const authority = await readFile(ca.certificate, "utf8");
  const before = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: AUTHORITIES, namespace },
      data: { "ca-certificates.crt": authority },
    },
  ];
  await apply(user, before);
  const release = ["upgrade", "--install", "platform", chart, `--namespace=${namespace}`];
  const waiting = ["--values=-", "--wait", "--wait-for-jobs", "--timeout=5m"];
  await run(helm, [...release, ...waiting], {
    input: JSON.stringify(kindValues(surroundings)),
    env: { ...process.env, KUBECONFIG: user.kubeconfig },
    deadlineMs: DEADLINE_MS,
  });
  const { backend, frontend } = surroundings.repositories;
  await apply(user, [
    apiPort(),
    repositoryObject("backend", { name: backend.name, cloneUrl: asPodsSee(backend.url, surroundings.bridge) }),
    repositoryObject("frontend", { name: frontend.name, cloneUrl: asPodsSee(frontend.url, surroundings.bridge) }),
  ]);
}

async function apply(user: ClusterUser, items: readonly object[]): Promise<void> {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  await kubectl(user, ["apply", "--server-side", "--filename=-"], { input });
}

/** Pods reach this machine's loopback by forwards on the bridge, at the same port. */
function asPodsSee(url: string, { address }: Bridge): string {
  return url.replace(`127.0.0.1:${forwards.git.to}`, `${address}:${forwards.git.port}`);
}

function apiPort(): object {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "platform-on-this-machine", namespace },
    spec: {
      type: "NodePort",
      selector: {
        "app.kubernetes.io/name": "ephemeral-environments",
        "app.kubernetes.io/instance": "platform",
      },
      ports: [{ name: "http", port: 80, targetPort: "api", nodePort: nodePorts.api }],
    },
  };
}

function repositoryObject(
  type: "backend" | "frontend",
  { name, cloneUrl }: { name: string; cloneUrl: string },
): object {
  return {
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "Repository",
    metadata: { name, namespace },
    spec: { type, cloneUrl, image: { repository: sampleImage(name) }, port: 8080, healthPath: "/healthz" },
  };
}
