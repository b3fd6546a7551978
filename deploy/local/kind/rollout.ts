import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";

/** Images are pulled meanwhile. */
const MINUTES = 5;

/** Waits until all pods of a Deployment or the like are of its newest version and ready. Fails with kubectl's own words. */
export async function untilRolledOut(user: ClusterUser, what: string, namespace: string): Promise<void> {
  const args = ["rollout", "status", what, `--namespace=${namespace}`, `--timeout=${MINUTES}m`];
  await kubectl(user, args, { deadlineMs: (MINUTES + 1) * 60_000 });
}
