import { route } from "../route.ts";
import { HealthReply, ReadyReply, StatusReply } from "./schemas.ts";
import { toReady, toStatus } from "./views.ts";

/** The name under which health replies speak of this service. */
export const SERVICE = "ephemeral-environments";

/** For load balancers: this process answers. */
const health = route({
  method: "get",
  path: "/api/health",
  operationId: "getHealth",
  summary: "Whether the process answers",
  description: "Intended for load-balancer checks: the process answers.",
  tag: "health",
  access: "public",
  rate: "none",
  envelope: "never",
  reply: HealthReply,
  refusals: [],
})((_input, { clock, version }) => ({
  status: "healthy",
  timestamp: clock.now().toISOString(),
  version,
  service: SERVICE,
}));

/** The truth about the dependencies; never a pod's own probe, or an outage elsewhere would restart every replica. */
const ready = route({
  method: "get",
  path: "/api/ready",
  operationId: "getReadiness",
  summary: "Whether the platform can do its work",
  description: "Readiness probe: `ready`, or 503 and `not ready` when a dependency is unhealthy.",
  tag: "health",
  access: "public",
  rate: "none",
  envelope: "never",
  reply: ReadyReply,
  isUnavailable: (reply: ReadyReply) => reply.status === "not ready",
  refusals: [],
})(async (_input, platform) =>
  toReady(await platform.health.check(), { now: platform.clock.now(), isStopping: platform.stopping.aborted }),
);

/** Each dependency in detail. */
const status = route({
  method: "get",
  path: "/api/status",
  operationId: "getStatus",
  summary: "The platform's dependencies in detail",
  description:
    "How each dependency is: the datastore (the Kubernetes API), the cache, and the deployer. While the datastore can't be reached, reads are answered from the cache; `age_seconds` says how old they may be. Beside them: the circuit breakers in front of services, and whether expirations are blocked.",
  tag: "health",
  access: "public",
  rate: "caller",
  envelope: "never",
  reply: StatusReply,
  refusals: [],
})(async (_input, { health, counters, clock, version }) => {
  const [found, state] = await Promise.all([health.check(), counters?.state()]);
  return toStatus(found, { now: clock.now(), version, counters: state });
});

export const healthRoutes = [health, ready, status] as const;
