import { writeFile } from "node:fs/promises";
import type { ApiAccess } from "./api-client.ts";

/** A kubeconfig for one identity on one API server. */
export interface Kubeconfig extends ApiAccess {
  readonly user: string;
  /** A file that holds the token and may be renewed; instead of `token`. */
  readonly tokenFile?: string;
  /** The namespace that commands use when they name none. */
  readonly namespace?: string;
}

/** Writes a kubeconfig that only its owner can read, and returns its path. JSON, which every reader takes as YAML. */
export async function writeKubeconfig(path: string, config: Kubeconfig): Promise<string> {
  await writeFile(path, JSON.stringify(kubeconfigObject(config), null, 2), { mode: 0o600 });
  return path;
}

/** The kubeconfig's content: one cluster, one user, one context, all called `local`. */
export function kubeconfigObject(config: Kubeconfig): object {
  const { url, caFile, user, namespace, token, tokenFile, clientCertificate } = config;
  const credentials = {
    ...(token && { token }),
    // kubectl reads the first; client-node knows only the second, which it uses inside a pod too.
    ...(tokenFile && { tokenFile, "auth-provider": { name: "tokenFile", config: { tokenFile } } }),
    ...(clientCertificate && {
      "client-certificate": clientCertificate.certificate,
      "client-key": clientCertificate.key,
    }),
  };
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "local", cluster: { server: url, "certificate-authority": caFile } }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: "local", context: { cluster: "local", user, ...(namespace && { namespace }) } }],
    "current-context": "local",
  };
}
