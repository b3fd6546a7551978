import type { Owner } from "./cluster.ts";

/** What keeps pods from serving, the gravest first: a stable word for each. */
export const POD_PROBLEM_REASONS = [
  "ImagePullFailed",
  "ContainerMisconfigured",
  "CrashLoop",
  "QuotaExceeded",
  "PodRefused",
  "VolumeMissing",
  "Unschedulable",
  "ProbeFailing",
] as const;
export type PodProblemReason = (typeof POD_PROBLEM_REASONS)[number];

/** One component of an environment whose pods don't serve. */
export interface PodProblem {
  readonly reason: PodProblemReason;
  /** As its chart labels it: `backend`, `frontend`, or whatever a chart of one's own has. */
  readonly component: string;
  /** What is wrong and what to do, for people; the words stay the same while the problem does. */
  readonly sentence: string;
  /** Since when, by the cluster's clock. */
  readonly since: Date;
  /**
   * What the cluster or the container itself said last: other words each time. At most 20 lines and 2 KiB, without
   * control characters and without any value of the Secrets that the pod sees; empty when there is nothing that may be
   * shown. Reads logs and Secrets, so it is for what is about to be shown. Never throws.
   */
  evidence(): Promise<string>;
}

/** Diagnoses the pods in an environment's own namespace. */
export interface Pods {
  /**
   * What keeps them from serving now, the gravest first, one a component; what an update has replaced already does not
   * count. Two reads.
   *
   * @throws KubeError when the API server does not answer
   */
  diagnose(environment: Owner): Promise<readonly PodProblem[]>;

  /**
   * Whether the pods of one component, as its chart labels it, are ready; `absent` when there are none. One read.
   *
   * @throws KubeError when the API server does not answer
   */
  readiness(environment: Owner, component: string): Promise<"ready" | "unready" | "absent">;
}
