import type { ComponentSelectors } from "../../crds/repository/component-selectors.ts";
import type { Owner } from "./cluster.ts";
import type { NamedObject } from "./deployer.ts";

/** Why pods don't serve, or another object is not ready, the most severe first. */
export const POD_PROBLEM_REASONS = [
  "ImagePullFailed",
  "ContainerMisconfigured",
  "CrashLoop",
  "JobFailed",
  "QuotaExceeded",
  "PodRefused",
  "VolumeMissing",
  "Unschedulable",
  "ProbeFailing",
  "ResourceDegraded",
  "ResourceNotReady",
] as const;
export type PodProblemReason = (typeof POD_PROBLEM_REASONS)[number];

/** Why the pods of one workload don't serve, or why another object is not ready. */
export interface PodProblem {
  readonly reason: PodProblemReason;
  /** What its pods are of: `backend`, `frontend`, a backing service, or a component label of a custom chart; else its name. */
  readonly component: string;
  /** Whether its pods are of the component only because no label says another one. */
  readonly isUnlabelled?: boolean;
  /** What makes the pods, as the chart has it (a Deployment, not its ReplicaSet), or the object itself. */
  readonly object: NamedObject;
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

/** An object that is not well and carries no traffic. */
export interface QuietProblem extends NamedObject {
  /** For users: what is wrong, and what helps. */
  readonly what: string;
  /** Whether it can't get well by itself. */
  readonly isDegraded: boolean;
}

/** What is not well in an environment's namespace. */
export interface Diagnosis {
  /** Why pods don't serve now, the most severe first, one problem for each workload; replaced pods do not count. */
  readonly problems: readonly PodProblem[];
  /** What does not count for it: an autoscaler without metrics, a run of a CronJob, a claim that no pod uses. */
  readonly quiet: readonly QuietProblem[];
  /** Whether every object that carries traffic is as it should be; pods may have problems all the same, such as a fourth crash. */
  readonly isServing: boolean;
}

/** The pods in an environment's namespace, and what makes them. */
export interface Pods {
  /**
   * What is not well there now. A read of the pods, one for each kind, and one of the events where pods are missing.
   *
   * @param kinds the kinds that the chart makes: of others only Deployments are read
   * @param selectors what says which pods are of which component
   * @throws KubeError when the API server does not answer
   */
  diagnose(environment: Owner, kinds: readonly string[], selectors: ComponentSelectors): Promise<Diagnosis>;

  /**
   * The last output of the newest pod that this object has made, as `evidence` of a problem has it; empty when it has none.
   * It reads pods, logs and Secrets. Never throws.
   */
  lastOutput(environment: Owner, object: NamedObject): Promise<string>;

  /**
   * Whether the pods with this label of a backing service are ready; `absent` when there are none. One read, and one of the
   * Jobs where a Job made one of them.
   *
   * @throws KubeError when the API server does not answer
   */
  readiness(environment: Owner, component: string): Promise<"ready" | "unready" | "absent">;

  /**
   * The commit that the pods of each component say they run, in the annotation `ephemeral-environments.dev/commit`; replaced
   * pods and runs of a CronJob do not count. A component is absent where its pods say none, or not all the same; of one that no
   * label says, pods that say none are taken for another program's. One read, and one of the Jobs where a Job made a pod.
   *
   * @throws KubeError when the API server does not answer
   */
  commits(environment: Owner, selectors: ComponentSelectors): Promise<ReadonlyMap<string, string>>;

  /**
   * The workloads whose pods run or are to run, as the chart has them, each once and by name. One read, and one of the Jobs
   * where a Job made a pod.
   *
   * @throws KubeError when the API server does not answer
   */
  running(environment: Owner): Promise<readonly NamedObject[]>;
}
