import type { ComponentSelectors } from "../../../crds/repository/component-selectors.ts";
import type { Owner } from "../cluster.ts";
import type { NamedObject } from "../deployer.ts";

/** What makes pods in an environment, as its chart has it: a Deployment, not its ReplicaSet. */
export interface Workload extends NamedObject {
  /** What its pods are of: `backend`, `frontend` or a backing service; absent: of none of them. */
  readonly component?: string;
  /** How many pods there should be, of a Job those that have to end well; absent for a kind that the platform does not know. */
  readonly wanted?: number;
  /** How many of them are ready, or have ended well. */
  readonly ready: number;
  /** How often containers of its current pods were started again. */
  readonly restarts: number;
  /** The images of its pods, as it names them. */
  readonly images: readonly string[];
  /** For users: what is wrong, and what helps; absent while nothing is known to be. */
  readonly problem?: string;
}

/** The workloads of environments. */
export interface Workloads {
  /**
   * All of them, by component, kind and name; none before the namespace is there. A read of the pods and one for each kind, and
   * one of the events where pods are missing.
   *
   * @throws ClusterUnavailable when the API server does not answer
   */
  list(environment: Owner, selectors: ComponentSelectors): Promise<readonly Workload[]>;
}
