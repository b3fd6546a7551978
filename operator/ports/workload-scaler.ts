import type { Owner } from "./cluster.ts";

/** A workload of an environment, and the pods that it has while the environment is awake. */
export interface AwakeWorkload {
  readonly kind: "Deployment" | "StatefulSet";
  readonly name: string;
  readonly replicas: number;
}

/** Changes how many pods the workloads have that the deployer has made in an environment's namespace. */
export interface WorkloadScaler {
  /**
   * Gives workloads without pods their pods, as `kubectl scale` does. One that has pods, or is not there, is left alone.
   *
   * @throws KubeError where the API server does not answer; some may have been scaled
   */
  scaleFromZero(environment: Owner, workloads: readonly AwakeWorkload[]): Promise<void>;
}
