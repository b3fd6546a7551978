import type { ComponentSelectors } from "../../../crds/environment/component-selectors.ts";
import type { Owner } from "../cluster.ts";
import type { NamedObject } from "../deployer.ts";

/** Owner of pods in an environment, as in its chart: a Deployment, not its ReplicaSet. */
export interface Workload extends NamedObject {
  /** `backend`, `frontend` or a backing service; absent: none of them. */
  readonly component?: string;
  /** Desired pods, for a Job the completions; absent for an unknown kind. */
  readonly wanted?: number;
  /** Ready or completed pods. */
  readonly ready: number;
  /** Restarts of containers of its current pods. */
  readonly restarts: number;
  /** Images, as its pods name them. */
  readonly images: readonly string[];
  /** Problem and remedy, for users; absent without a known one. */
  readonly problem?: string;
}

export interface Workloads {
  /**
   * All workloads, by component, kind and name; none before the namespace exists. One read of the pods, one per kind,
   * and one of the events where pods are missing.
   *
   * @throws ClusterUnavailable when the API server does not answer
   */
  list(environment: Owner, selectors: ComponentSelectors): Promise<readonly Workload[]>;
}
