import type { Workload } from "../../../operator/ports/api/pods.ts";
import { route } from "../../route.ts";
import { EnvironmentPath } from "../schemas.ts";
import { visibleEnvironment } from "../visible-environment.ts";
import { type WorkloadReport, WorkloadsReply } from "./schemas.ts";
import { workloadsOf } from "./workloads.ts";

export const listWorkloads = route({
  endpoint: "GET /api/environments/{environment_id}/workloads",
  summary: "List an environment's workloads",
  description:
    "Workloads with the environment's pods, of whatever chart: Deployments, StatefulSets, DaemonSets, Jobs, CronJobs, and other owners of pods. Each with its pods, their restarts, its images, and its problem. They are read from the cluster at each call. The log of one is read with `workload`.",
  access: { permission: "environments:read" },
  only: "v2",
  params: EnvironmentPath,
  reply: WorkloadsReply,
  errors: ["ENV_NOT_FOUND"],
})(async ({ params, caller }, services) => {
  const environment = await visibleEnvironment(params.environment_id, caller, services);
  return { workloads: (await workloadsOf(environment, services)).map(toWorkload) };
});

/** Workload in version 2. */
function toWorkload({ kind, name, component, desired, ready, restarts, images, problem }: Workload): WorkloadReport {
  return {
    kind,
    name,
    component: component ?? null,
    pods_desired: desired ?? null,
    pods_ready: ready,
    restarts,
    images: [...images],
    problem: problem ?? null,
  };
}
