import { ARGOCD_LABEL, ARGOCD_TRACKING_ANNOTATION } from "../../../crds/environment/managed-by.ts";
import { insteadOf, isConflict } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { type KubeObject, type ObjectMeta, resourceType } from "../../kit/client/objects.ts";
import type { UnchangedJobs } from "./application-status.ts";

interface Job extends KubeObject {
  readonly spec?: { readonly ttlSecondsAfterFinished?: number };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const jobType = resourceType<Job>({ group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true });

/**
 * Deletes those of the Jobs that have ended and may go then, as their TTL says: the next attempt of the sync makes them anew. What
 * the sync itself has made stays, or one update would run it twice. The policy `platform-jobs` lets the platform delete no others.
 *
 * @returns the names of the deleted ones
 */
export async function removeOutdatedJobs(
  client: Pick<KubeClient, "list" | "delete">,
  namespace: string,
  { names, startedAt }: UnchangedJobs,
): Promise<readonly string[]> {
  const { items } = await client.list(jobType, { namespace });
  const outdated = items.filter(
    (job) => names.includes(job.metadata.name) && job.metadata.creationTimestamp < startedAt && mayGo(job, namespace),
  );
  const removed = await Promise.all(
    outdated.map(async ({ metadata: { name, uid } }) => {
      const deletion = client.delete(jobType, { name, namespace }, { uid });
      const left = await deletion.catch(insteadOf(isConflict, "replaced"));
      return left === "replaced" ? [] : [name];
    }),
  );
  return removed.flat();
}

const mayGo = ({ metadata, spec, status }: Job, application: string) =>
  spec?.ttlSecondsAfterFinished !== undefined &&
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: is }) => ["Complete", "Failed"].includes(type) && is === "True") === true &&
  isTracked(metadata, application);

/** Whether the application made it: https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/ */
const isTracked = ({ annotations = {}, labels = {} }: ObjectMeta, application: string) =>
  annotations[ARGOCD_TRACKING_ANNOTATION]?.startsWith(`${application}:`) || labels[ARGOCD_LABEL] === application;
