import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ApiAccess } from "./api-client.ts";
import type { CertificateAuthority, Subject } from "./pki.ts";

/** A cluster entry of a kubeconfig: the server and the verification of its certificate. */
export type ClusterEntry = Readonly<Record<string, unknown>> & { readonly server: string };

/** A kubeconfig for one identity on one API server. */
export interface Kubeconfig extends Pick<ApiAccess, "token" | "clientCertificate"> {
  readonly cluster: ClusterEntry;
  readonly user: string;
  /** A renewable file with the token; instead of `token`, and not for kubectl. */
  readonly tokenFile?: string;
  readonly namespace?: string;
}

/** The kubeconfig's entry for one of our API servers. */
export function clusterEntry({ url, caFile }: ApiAccess): ClusterEntry {
  return { server: url, "certificate-authority": caFile };
}

/** Writes a kubeconfig that only its owner can read, and returns its path. JSON, which every reader accepts as YAML. */
export async function writeKubeconfig(path: string, config: Kubeconfig): Promise<string> {
  await writeFile(path, JSON.stringify(kubeconfigObject(config), null, 2), { mode: 0o600 });
  return path;
}

interface Issuing {
  readonly folder: string;
  readonly ca: CertificateAuthority;
  readonly access: ApiAccess;
}

/** Writes a program's kubeconfig with its own client certificate, and returns its path. */
export async function kubeconfigFor(
  { folder, ca, access }: Issuing,
  name: string,
  subject: Subject,
  namespace?: string,
): Promise<string> {
  const clientCertificate = await ca.issue(`${name}-client`, subject);
  const config = { cluster: clusterEntry(access), user: name, clientCertificate, ...(namespace && { namespace }) };
  return writeKubeconfig(join(folder, `${name}.kubeconfig`), config);
}

/** The kubeconfig's content: one cluster, one user, one context, each named `local`. */
export function kubeconfigObject(config: Kubeconfig): object {
  const { cluster, user, namespace, token, tokenFile, clientCertificate } = config;
  const credentials = {
    ...(token && { token }),
    // client-node's only way to reread a token, which it uses in pods, too. kubectl has no such provider.
    ...(tokenFile && { "auth-provider": { name: "tokenFile", config: { tokenFile } } }),
    ...(clientCertificate && {
      "client-certificate": clientCertificate.certificate,
      "client-key": clientCertificate.key,
    }),
  };
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "local", cluster }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: "local", context: { cluster: "local", user, ...(namespace && { namespace }) } }],
    "current-context": "local",
  };
}
