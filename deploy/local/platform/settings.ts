import { postgresqlImage } from "../builds/postgresql.ts";
import { accountDomain } from "../identity/accounts.ts";
import { commandLineClientId, consoleClientId, toolClientId } from "../identity/clients.ts";
import { addresses, baseDomain, consoleOrigin, giteaUrl, localIssuer } from "../network/addresses.ts";
import type { ClusterSite } from "../site.ts";
import { platformAccount } from "./chart.ts";
import type { HostSettings } from "./programs.ts";
import { consoleSecretRef, giteaTokenRef, webhookKeyRef } from "./secrets.ts";

/** Address of the REST API. */
export const apiUrl = `http://127.0.0.1:${addresses.apiPort}`;

/** The id of Gitea in the settings. */
export const giteaHost = "gitea";

/** A test serves charts there that demand a login. */
const guardedCharts = "127.0.0.1:9302";

/** The platform's settings on the local cluster: the operator runs on the host, everything answers on loopback. */
export function localSettings({ ca, repositories }: ClusterSite): HostSettings & Record<string, unknown> {
  const host = { ipBlock: { cidr: `${addresses.bridge.address}/32` } };
  const hosts = [new URL(giteaUrl).host];
  return {
    ...platformAccount,
    baseDomain,
    publicPort: addresses.ingressPort,
    ingressAddress: `127.0.0.1:${addresses.ingressPort}`,
    ingressCaFile: ca.certificate,
    publicUrl: apiUrl,
    hosts: [{ id: giteaHost, kind: "gitea", apiUrl: `${giteaUrl}/api/v1`, token: giteaTokenRef }],
    webhooks: { secrets: [webhookKeyRef] },
    defaultChart: { repoUrl: repositories.chart.url, path: ".", revision: "main" },
    // The ingress and the DNS server run on the host, at the bridge's address for pods.
    database: { image: postgresqlImage.repository, version: postgresqlImage.tag, sizeGi: 1 },
    isolation: { ingressFrom: [host], dns: [host] },
    // Credentials (user:token) for private repositories and images of Gitea; the second and the third are the tests' own.
    secrets: {
      hostCredentials: [
        ...["local-git", "e2e-git"].map((id) => ({ id, hosts })),
        { id: "e2e-charts", hosts: [...hosts, guardedCharts] },
      ],
    },
    api: {
      port: addresses.apiPort,
      issuers: [
        {
          issuer: localIssuer,
          audience: [toolClientId, commandLineClientId, consoleClientId],
          commandLine: { clientId: commandLineClientId, flows: ["loopback", "device"] },
          requiredClaims: { hd: [accountDomain] },
          defaultRole: "developer",
          roles: {
            viewer: ["platform-viewers"],
            developer: ["platform-developers"],
            maintainer: ["platform-maintainers"],
            admin: ["platform-admins"],
          },
        },
      ],
      identityProvider: { kind: "local", url: localIssuer },
    },
    activity: {
      ingress: { controller: "traefik", urls: [`http://127.0.0.1:${addresses.ingressMetricsPort}/metrics`] },
    },
    // A schedule may have an environment asleep as soon as it is ready: tests do not wait for ten minutes.
    reconcile: { awakeMinutes: 0 },
    console: { publicUrl: consoleOrigin, clientId: consoleClientId, clientSecret: consoleSecretRef },
    probes: { host: "127.0.0.1", port: addresses.probesPort },
    gate: {
      host: addresses.bridge.address,
      port: addresses.gatePort,
      probes: { host: "127.0.0.1", port: addresses.gateProbesPort },
    },
    // One process: after a crash the next one must not wait for the last one's lease.
    leaderElection: false,
  };
}
