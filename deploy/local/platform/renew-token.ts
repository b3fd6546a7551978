/**
 * Keeps a token of a ServiceAccount in a file, as the kubelet does for a pod: renewed after four fifths of its
 * time, including the machine's sleep. Usage: renew-token.ts KUBECTL KUBECONFIG NAMESPACE SERVICE_ACCOUNT TOKEN_FILE
 * [CONTEXT]
 */

import { rest } from "../../build/wait.ts";
import { writeWhole } from "../processes/whole-file.ts";
import { requestPlatformToken } from "./token.ts";

const TOKEN_SECONDS = 3600;
const RETRY_MS = 5_000;

const [kubectl = "", kubeconfig = "", namespace = "", serviceAccount = "", tokenFile = "", context] =
  process.argv.slice(2);

for (;;) await rest(await renew());

/**
 * Renews the file and returns the milliseconds until the next renewal. An API server may be away for a while: the old token
 * stays in use.
 */
async function renew(): Promise<number> {
  try {
    const user = { kubectl, kubeconfig, ...(context !== undefined && { context }) };
    const { token, expiresAt } = await requestPlatformToken(user, { namespace, serviceAccount }, TOKEN_SECONDS);
    await writeWhole(tokenFile, token, 0o600);
    return (expiresAt.getTime() - Date.now()) * 0.8;
  } catch (error) {
    console.error(new Date().toISOString(), "the token was not renewed:", error);
    return RETRY_MS;
  }
}
