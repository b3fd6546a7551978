import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";

/** Its metrics grow with what it holds: some megabytes beside ten thousand environments. */
const LONGEST_BYTES = 64 * 2 ** 20;

/** What the API server has computed since its start, by its own account. */
export async function apiServerCpuSeconds(admin: Pick<KubeClient, "text">): Promise<number> {
  const metrics = await admin.text("/metrics", {}, { limitBytes: LONGEST_BYTES });
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]);
}
