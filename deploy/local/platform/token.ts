import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";

/** A ServiceAccount of the platform's chart. */
export interface PlatformAccount {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/**
 * A fresh token of that ServiceAccount; `user` must have the right to request it.
 *
 * The API server may grant less than `seconds`: renew by `expiresAt`.
 */
export async function requestPlatformToken(
  user: ClusterUser,
  { namespace, serviceAccount }: PlatformAccount,
  seconds: number,
): Promise<{ token: string; expiresAt: Date }> {
  const request = ["create", "token", serviceAccount, `--namespace=${namespace}`, `--duration=${seconds}s`];
  const reply = JSON.parse(await kubectl(user, [...request, "--output=json"])) as {
    status: { token: string; expirationTimestamp: string };
  };
  return { token: reply.status.token, expiresAt: new Date(reply.status.expirationTimestamp) };
}
