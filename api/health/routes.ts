import { feature, route } from "../route.ts";
import { HealthReply, ReadyReply, StatusReply } from "./schemas.ts";
import { toReady, toStatus } from "./views.ts";

const SERVICE = "ephemeral-environments";

/** Liveness for load balancers: this process answers. */
const getHealth = route({
  endpoint: "GET /api/health",
  summary: "Liveness of the process",
  description: "Intended for load-balancer checks: the process answers.",
  access: "public",
  rate: "none",
  reply: HealthReply,
})((_input, { clock, version }) => ({
  status: "healthy",
  timestamp: clock.now().toISOString(),
  version,
  service: SERVICE,
}));

/** Never a pod's own probe, or an outage of a dependency would restart every replica. */
const getReadiness = route({
  endpoint: "GET /api/ready",
  summary: "Readiness of the platform",
  description: "Readiness probe: `ready`, or 503 and `not ready` when a dependency is unhealthy.",
  access: "public",
  rate: "none",
  reply: ReadyReply,
  isUnavailable: ({ status }) => status === "not ready",
})(async (_input, { health, clock, stopping }) =>
  toReady(await health.check(), { now: clock.now(), isStopping: stopping.aborted }),
);

const getStatus = route({
  endpoint: "GET /api/status",
  summary: "The platform's dependencies in detail",
  description:
    "State of each dependency: the datastore (the Kubernetes API), the cache, and the deployer. While the datastore can't be reached, reads are answered from the cache; `age_seconds` is their greatest age. Also the circuit breakers in front of services, and the block of expirations.",
  access: "public",
  reply: StatusReply,
})(async (_input, { health, counters, clock, version }) => {
  const [found, state] = await Promise.all([health.check(), counters?.state()]);
  return toStatus(found, { now: clock.now(), version, counters: state });
});

export const healthRoutes = feature("health", { getHealth, getReadiness, getStatus }, { envelope: "never" });
