import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";

/** The metrics grow with the content: some megabytes beside ten thousand environments. */
const LONGEST_BYTES = 64 * 2 ** 20;

/** The API server's CPU time since its start, from its own metrics. */
export async function apiServerCpuSeconds(admin: Pick<KubeClient, "text">): Promise<number> {
  const metrics = await admin.text("/metrics", {}, { limitBytes: LONGEST_BYTES });
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]);
}
