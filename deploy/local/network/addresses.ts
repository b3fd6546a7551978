/**
 * Addresses and ports of the local cluster: loopback, and the bridge of its pods. The API server, the kubelet and the DNS
 * server are on the bridge, because pods (and the tunnel to their logs) must reach them; the gate is, because a Service
 * leads to it.
 */
export const addresses = {
  bridge: { name: "eph0", address: "10.244.0.1", prefix: 22, network: "10.244.0.0/22" },
  serviceNetwork: "10.96.0.0/16",
  firstService: "10.96.0.1",
  apiServerPort: 16443,
  dnsPort: 53,
  schedulerPort: 20259,
  redisPort: 16379,
  repoServerPort: 18081,
  repoServerMetricsPort: 18084,
  applicationControllerMetricsPort: 18082,
  kubeProxyHealthPort: 20256,
  kubeProxyMetricsPort: 20249,
  ingressPort: 18443,
  ingressMetricsPort: 18444,
  gitServerPort: 9300,
  giteaPort: 9301,
  identityProviderPort: 9400,
  apiPort: 8080,
  probesPort: 9090,
  gatePort: 8081,
  gateProbesPort: 9091,
} as const;

/**
 * Ports on the bridge, and their targets on loopback, for a platform installed in pods of a bare cluster. The keys of tokens
 * use TLS, because plain HTTP is trusted on loopback alone.
 */
export const forwards = {
  git: { port: addresses.gitServerPort, to: addresses.gitServerPort, tls: false },
  ingress: { port: addresses.ingressPort, to: addresses.ingressPort, tls: false },
  identityProvider: { port: 9443, to: addresses.identityProviderPort, tls: true },
} as const;

/** The only node's name. */
export const nodeName = "node-1";

/** The domain of environments' names; every resolver answers it with loopback (RFC 6761, 6.3). */
export const baseDomain = "env.localhost";

/** Root of the git repositories that Argo CD and the operator read without credentials. */
export const gitServerUrl = `http://127.0.0.1:${addresses.gitServerPort}`;

/** Root of the optional git host with private repositories and an image registry. */
export const giteaUrl = `http://127.0.0.1:${addresses.giteaPort}`;

/**
 * Origin of the web console. Browsers accept TLS-only cookies for this name without TLS; the other programs are at
 * 127.0.0.1, with separate cookies: cookies are shared by all ports of a host.
 */
export const consoleOrigin = `http://localhost:${addresses.apiPort}`;

/** Issuer of the local cluster's tokens. */
export const localIssuer = `http://127.0.0.1:${addresses.identityProviderPort}`;

/** The pods' network in the network plugins' configuration; no other program on the machine uses this name. */
export const podNetwork = "ephemeral-environments";
