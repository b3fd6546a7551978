import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import type { KubeConfigSource } from "../../../operator/kit/client/credentials.ts";

/**
 * A kubeconfig for the kit's client: a server, its authority's PEM file (none for plain HTTP), and a bearer token.
 * client-node's own KubeConfig would load a thousand modules into each test file.
 */
export function kubeConfigOf(
  { url, caFile }: { readonly url: string; readonly caFile?: string },
  token: string,
): KubeConfigSource {
  const ca = caFile === undefined ? undefined : readFileSync(caFile);
  return {
    getCurrentCluster: () => ({ name: "test", server: url, skipTLSVerify: ca === undefined }),
    getCurrentUser: () => ({ name: "tester", token }),
    async applyToHTTPSOptions(options: RequestOptions) {
      options.headers = { Authorization: `Bearer ${token}` };
      if (ca !== undefined) options.ca = ca;
    },
  };
}
