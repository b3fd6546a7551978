import type { Owner } from "./cluster.ts";

/** Why pods don't serve, the most severe first. */
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

/** Why the pods of one component don't serve. */
export interface PodProblem {
  readonly reason: PodProblemReason;
  /** The component label of its pods: `backend`, `frontend`, `database`, or one of a custom chart. */
  readonly component: string;
  /** For users: what is wrong; the same text for as long as the problem is the same. */
  readonly what: string;
  /** For users: what helps a component; the same text for as long as the problem is the same. */
  readonly remedy: string;
  /** Since when, by the cluster's clock. */
  readonly since: Date;
  /**
   * The last output of the container, or of the cluster about it; it differs each time. At most 20 lines and 2 KiB, without
   * control characters and without any value of the pod's Secrets; empty when nothing may be shown. It reads logs and
   * Secrets, so it is only for what is about to be shown. Never throws.
   */
  evidence(): Promise<string>;
}

/** The pods in an environment's namespace. */
export interface Pods {
  /**
   * Why they don't serve now, the most severe first, one problem for each component; replaced pods do not count. Two reads.
   *
   * @throws KubeError when the API server does not answer
   */
  diagnose(environment: Owner): Promise<readonly PodProblem[]>;

  /**
   * Whether the pods with this component label are ready; `absent` when there are none. One read.
   *
   * @throws KubeError when the API server does not answer
   */
  readiness(environment: Owner, component: string): Promise<"ready" | "unready" | "absent">;

  /**
   * The commit that the pods of each component (by their label) say they run, in the annotation
   * `ephemeral-environments.dev/commit`; replaced pods do not count. A component is absent where its pods say none, or not all
   * the same. One read.
   *
   * @throws KubeError when the API server does not answer
   */
  commits(environment: Owner): Promise<ReadonlyMap<string, string>>;
}
