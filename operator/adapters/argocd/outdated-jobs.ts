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

/** Jobs that a sync could not change, by their names. */
export interface OutdatedJobs {
  readonly removed: readonly string[];
  /** Names of Jobs that have to end before. */
  readonly running: readonly string[];
}

/**
 * Deletes those of the Jobs that have ended and may go then, as their TTL says: the next attempt of the sync makes them anew. What
 * the sync itself has made stays, or one update would run it twice. The policy `platform-jobs` lets the platform delete no others.
 */
export async function removeOutdatedJobs(
  client: Pick<KubeClient, "list" | "delete">,
  namespace: string,
  { names, startedAt }: UnchangedJobs,
): Promise<OutdatedJobs> {
  const { items } = await client.list(jobType, { namespace });
  const outdated = items.filter(
    ({ metadata, spec }) =>
      names.includes(metadata.name) &&
      metadata.creationTimestamp < startedAt &&
      metadata.deletionTimestamp === undefined &&
      spec?.ttlSecondsAfterFinished !== undefined &&
      isTracked(metadata, namespace),
  );
  const ended = outdated.filter(hasEnded);
  for (const { metadata } of ended) {
    const { name, uid } = metadata;
    // Another one of that name is none of these.
    await client.delete(jobType, { name, namespace }, { uid }).catch(insteadOf(isConflict, "gone"));
  }
  const running = outdated.filter((job) => !ended.includes(job));
  return { removed: ended.map(nameOf), running: running.map(nameOf) };
}

const nameOf = ({ metadata }: Job) => metadata.name;

const hasEnded = ({ status }: Job) =>
  status?.conditions?.some(({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True") ===
  true;

/** True for what the application made: https://argo-cd.readthedocs.io/en/stable/user-guide/resource_tracking/ */
const isTracked = ({ annotations = {}, labels = {} }: ObjectMeta, application: string) =>
  annotations[ARGOCD_TRACKING_ANNOTATION]?.startsWith(`${application}:`) || labels[ARGOCD_LABEL] === application;
