import type { ComponentSelectors } from "../../../../crds/environment/component-selectors.ts";
import { ClusterUnavailable } from "../../../../crds/errors.ts";
import type { Workload, Workloads } from "../../../../operator/ports/api/pods.ts";

export interface MemoryWorkloads extends Workloads {
  put(environment: string, ...workloads: readonly Workload[]): void;
  setReachable(reachable: boolean): void;
  /** The component selectors of the last call. */
  readonly selectors: ComponentSelectors | undefined;
}

export function memoryWorkloads(): MemoryWorkloads {
  const known = new Map<string, readonly Workload[]>();
  let isReachable = true;
  let requested: ComponentSelectors | undefined;
  return {
    async list({ name }, selectors) {
      if (!isReachable) throw new ClusterUnavailable(5);
      requested = selectors;
      return known.get(name) ?? [];
    },
    put: (environment, ...workloads) => void known.set(environment, workloads),
    setReachable: (reachable) => {
      isReachable = reachable;
    },
    get selectors() {
      return requested;
    },
  };
}
