/** Reads of an environment's namespace for diagnoses, logs and lists. */

import { namespaceName } from "../../../crds/names.ts";
import { present } from "../../../crds/present.ts";
import { insteadOf, isForbidden, isNotFound } from "../../kit/client/errors.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { ClusterObserver, Owner } from "../../ports/cluster.ts";
import { type Pod, podType, warningType } from "./pod-objects.ts";
import { findingsOf, type MakerOf, makersOf, type NamespaceFindings, type NamespaceState } from "./pod-problems.ts";
import { RESOURCE_ROWS, type Resource } from "./resource-states.ts";

/** Dependencies of users' reads of what runs in a namespace. */
export interface NamespaceReader {
  readonly client: KubeClient;
  /** Answers the owner of a namespace. */
  readonly cluster: ClusterObserver;
  readonly clock: Clock;
  /** Names of the backing services, which belong to no component. */
  readonly services: readonly string[];
}

/** True for the environment's own; one left by another keeps its pods, and our rights, until it is swept. */
export const hasNamespace = ({ cluster }: NamespaceReader, environment: Owner): boolean =>
  cluster.observe(environment, namespaceKind, { name: namespaceName(environment.name) }) !== undefined;

/**
 * State of the namespace, and its problems. Warnings are read only where they say more.
 *
 * @param kinds of objects, beside the Jobs of CronJobs; none is read of a kind without a row, or that is not served
 */
export async function findingsIn(
  { client, clock }: Pick<NamespaceReader, "client" | "clock">,
  namespace: string,
  kinds: readonly string[],
): Promise<NamespaceState & { readonly findings: NamespaceFindings }> {
  const listedKinds = new Set([...kinds, ...(kinds.includes("CronJob") ? ["Job"] : [])]);
  const [{ items: pods }, ...lists] = await Promise.all([
    client.list(podType, { namespace }),
    ...[...listedKinds].map((kind) => listed(client, namespace, kind)),
  ]);
  const state = { pods, resources: lists.flat() };
  const findings = findingsOf(state, clock.now());
  if (!findings.needsWarnings) return { ...state, findings };
  const { items: warnings } = await client.list(warningType, { namespace, fieldSelector: "type=Warning" });
  return { ...state, findings: findingsOf({ ...state, warnings }, clock.now()) };
}

/** Pods of the namespace, ended ones too, with their owners in the chart. */
export async function podsIn(client: KubeClient, namespace: string, labelSelector?: string) {
  const { items: pods } = await client.list(podType, { namespace, ...present({ labelSelector }) });
  return { pods, makers: await makersIn(client, namespace, pods) };
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
  const list = client.list(row.type, { namespace, keep: readParts });
  return (await list.catch(insteadOf(isNotFound, { items: [] }))).items;
}

/** Drops unread parts: a namespace may have many objects. */
function readParts({ apiVersion, kind, metadata, spec, status }: Resource): Resource {
  const { managedFields: _, annotations: __, ...rest } = metadata;
  return { apiVersion, kind, metadata: rest, ...(spec ? { spec } : {}), ...(status ? { status } : {}) };
}
