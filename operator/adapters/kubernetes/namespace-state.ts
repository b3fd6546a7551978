/** Reads of an environment's namespace for diagnoses, logs and lists. */
import { insteadOf, isForbidden, isNotFound } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { type Pod, type WarningEvent, warningType } from "./pod-objects.ts";
import { type MakerOf, makersOf } from "./pod-problems.ts";
import { RESOURCE_ROWS, type Resource } from "./resource-states.ts";

/**
 * Objects of these kinds, and the Jobs of CronJobs; none of a kind without a row, or that the cluster does not serve.
 */
export async function resourcesIn(
  client: KubeClient,
  namespace: string,
  kinds: readonly string[],
): Promise<readonly Resource[]> {
  const wanted = new Set([...kinds, ...(kinds.includes("CronJob") ? ["Job"] : [])]);
  return (await Promise.all([...wanted].map((kind) => listed(client, namespace, kind)))).flat();
}

/** Warnings about its objects. */
export async function warningsIn(client: KubeClient, namespace: string): Promise<readonly WarningEvent[]> {
  return (await client.list(warningType, { namespace, fieldSelector: "type=Warning" })).items;
}

/** Owners of these pods: Jobs are read only where one of them has made a pod. */
export async function makersIn(client: KubeClient, namespace: string, pods: readonly Pod[]): Promise<MakerOf> {
  const isOfJob = pods.some(({ metadata }) => metadata.ownerReferences?.[0]?.kind === "Job");
  // Rights come and go with a namespace, between one call and the next.
  return makersOf(isOfJob ? await listed(client, namespace, "Job").catch(insteadOf(isForbidden, [])) : []);
}

async function listed(client: KubeClient, namespace: string, kind: string): Promise<readonly Resource[]> {
  const row = RESOURCE_ROWS.get(kind);
  if (row === undefined) return [];
  const { items } = await client
    .list(row.type, { namespace, keep: judged })
    .catch(insteadOf(isNotFound, { items: [] }));
  return items;
}

/** Drops unread parts: a namespace may have many objects. */
function judged({ apiVersion, kind, metadata, spec, status }: Resource): Resource {
  const { managedFields: _, annotations: __, ...kept } = metadata;
  return { apiVersion, kind, metadata: kept, ...(spec ? { spec } : {}), ...(status ? { status } : {}) };
}
