import type { ComponentSelectors } from "../../crds/environment/component-selectors.ts";
import type { Owner } from "./cluster.ts";
import type { NamedObject } from "./deployer.ts";

/** Reasons why pods don't serve or another object is not ready, most severe first. */
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

/** Problem of one workload's pods or of another object. */
export interface PodProblem {
  readonly reason: PodProblemReason;
  /** `backend`, `frontend`, a backing service, or a component label of a custom chart; else the object's name. */
  readonly component: string;
  /** True when the pods belong to the component only for lack of another label. */
  readonly isUnlabelled?: boolean;
  /** Owner of the pods in the chart (a Deployment, not its ReplicaSet), or the object itself. */
  readonly object: NamedObject;
  /** Problem, for users; constant while the problem lasts, like the remedy. */
  readonly what: string;
  readonly remedy: string;
  /** Start, by the cluster's clock. */
  readonly since: Date;
  /**
   * Last output of the container, or of the cluster about it; varies. At most 20 lines and 2 KiB, without control
   * characters and secret values of the pod; empty when nothing may be shown. Reads logs and Secrets: call only to show
   * it. Never throws.
   */
  evidence(): Promise<string>;
}

/** An unhealthy object without traffic. */
export interface QuietProblem extends NamedObject {
  /** Problem and remedy, for users. */
  readonly what: string;
  /** True when it can't recover by itself. */
  readonly isDegraded: boolean;
}

/** Problems in an environment's namespace. */
export interface Diagnosis {
  /** Current problems of pods, most severe first, one per workload; replaced pods do not count. */
  readonly problems: readonly PodProblem[];
  /** Problems that do not count: an autoscaler without metrics, a CronJob's run, an unused claim. */
  readonly quiet: readonly QuietProblem[];
  /** True when every object with traffic is as it should be; pods may still have problems, such as a fourth crash. */
  readonly isServing: boolean;
}

/**
 * Pods in an environment's namespace, and their owners. A call reads the pods once, and the Jobs where a Job made one.
 * Methods but `lastOutput` throw the kit's KubeError when the API server does not answer.
 */
export interface Pods {
  /**
   * Current problems. Reads also each kind once, and the events where pods are missing.
   *
   * @param kinds kinds of the chart: of others only Deployments are read
   * @param selectors labels of the components' pods
   */
  diagnose(environment: Owner, kinds: readonly string[], selectors: ComponentSelectors): Promise<Diagnosis>;
  /** Last output of the object's newest pod, like a problem's `evidence`; empty without one. Never throws. */
  lastOutput(environment: Owner, object: NamedObject): Promise<string>;
  /** State of the pods with this backing service's label; `absent` without pods. */
  readiness(environment: Owner, component: string): Promise<"ready" | "unready" | "absent">;
  /**
   * Commit of each component, from its pods' annotation `ephemeral-environments.dev/commit`; replaced pods and runs of
   * a CronJob do not count. A component is absent where its pods state none, or different ones; for an unlabelled
   * component, pods without the annotation count as another program's.
   */
  commits(environment: Owner, selectors: ComponentSelectors): Promise<ReadonlyMap<string, string>>;
  /** Workloads with running or pending pods, as in the chart, each once and by name. */
  running(environment: Owner): Promise<readonly NamedObject[]>;
}
