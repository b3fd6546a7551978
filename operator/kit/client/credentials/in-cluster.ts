import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { isIPv6 } from "node:net";
import type { KubeConfigSource } from "./credentials.ts";

/** The kubelet's mount of the service account's token and the API server's CA. */
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * API server of this process's cluster, with its pod's token; `undefined` outside a pod.
 * https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/#directly-accessing-the-rest-api
 *
 * @param variables of the process
 * @param folder of the service account
 */
export function inCluster(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = "443" }: NodeJS.ProcessEnv,
  folder = SERVICE_ACCOUNT,
): KubeConfigSource | undefined {
  if (host === undefined) return undefined;
  const caFile = `${folder}/ca.crt`;
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const authProvider = { name: "tokenFile", config: { tokenFile: `${folder}/token` } };
  return {
    getCurrentCluster: () => ({ name: "cluster", server, caFile, skipTLSVerify: false }),
    getCurrentUser: () => ({ name: "pod", authProvider }),
    async applyToHTTPSOptions(options: RequestOptions) {
      options.ca = await readFile(caFile);
    },
  };
}
