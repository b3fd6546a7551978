import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";

/** Includes pulling images. */
const MINUTES = 5;

/** Waits until all pods of a workload are of its newest version and ready. Fails with kubectl's message. */
export async function untilRolledOut(user: ClusterUser, what: string, namespace: string): Promise<void> {
  const args = ["rollout", "status", what, `--namespace=${namespace}`, `--timeout=${MINUTES}m`];
  await kubectl(user, args, { deadlineMs: (MINUTES + 1) * 60_000 });
}
