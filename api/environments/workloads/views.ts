import type { Workload } from "../../../operator/ports/api/pods.ts";
import type { WorkloadReport } from "./schemas.ts";

/** Workload in version 2. */
export function toWorkload({
  kind,
  name,
  component,
  wanted,
  ready,
  restarts,
  images,
  problem,
}: Workload): WorkloadReport {
  return {
    kind,
    name,
    component: component ?? null,
    pods_wanted: wanted ?? null,
    pods_ready: ready,
    restarts,
    images: [...images],
    problem: problem ?? null,
  };
}
