import { type Static, Type } from "typebox";
import { closed, literals } from "../../crds/schema.ts";
import { Instant, titled } from "../schemas/fields.ts";

const MOMENT = "2026-06-01T12:00:00.000Z";

export const HealthReply = closed(
  { status: literals(["healthy"]), timestamp: Instant, version: Type.String(), service: Type.String() },
  {
    title: "Health",
    examples: [{ status: "healthy", timestamp: MOMENT, version: "1.0.0", service: "ephemeral-environments" }],
  },
);

const Check = literals(["healthy", "unhealthy"]);
export const ReadyReply = closed(
  {
    status: literals(["ready", "not ready"]),
    checks: closed({ datastore: Check, cache: Check, deployer: Check }),
    timestamp: Instant,
  },
  {
    title: "Readiness",
    examples: [
      { status: "ready", checks: { datastore: "healthy", cache: "healthy", deployer: "healthy" }, timestamp: MOMENT },
      {
        status: "not ready",
        checks: { datastore: "healthy", cache: "healthy", deployer: "unhealthy" },
        timestamp: MOMENT,
      },
    ],
  },
);
export type ReadyReply = Static<typeof ReadyReply>;

const service = { healthy: Type.Boolean(), last_check: Instant };
const ResponseTime = Type.Integer({ minimum: 0, description: "Milliseconds." });
const CircuitBreakerReport = closed(
  {
    name: Type.String({ description: "The service, and its use." }),
    state: literals(["closed", "open", "half_open"], {
      description:
        "`closed`: calls go through. `open`: the service did not answer, and the next call tries it. `half_open`: one call tries it, and all others fail at once.",
    }),
    since: Instant,
  },
  titled("CircuitBreaker", { name: "secret-manager/api", state: "closed", since: MOMENT }),
);
export const StatusReply = closed(
  {
    status: literals(["healthy", "degraded", "unhealthy"], {
      description:
        "`degraded`: the three services are healthy, but replicas count requests separately, or a circuit breaker is not closed.",
    }),
    timestamp: Instant,
    version: Type.String(),
    services: closed({
      datastore: closed({ ...service, response_time_ms: ResponseTime }),
      cache: closed({
        ...service,
        response_time_ms: ResponseTime,
        memory_usage: Type.String(),
        age_seconds: Type.Optional(
          Type.Integer({
            minimum: 0,
            description:
              "Greatest age of what is read from the cache: under a minute in general, growing while the datastore can't be reached. Absent before everything was read once.",
          }),
        ),
        redis: Type.Optional(
          literals(["up", "down"], { description: "Request counters that replicas share. Absent without one." }),
        ),
      }),
      deployer: closed({ ...service, applications_synced: Type.Integer({ minimum: 0 }) }),
    }),
    circuit_breakers: Type.Array(CircuitBreakerReport, {
      description:
        "Circuit breakers of the replica that answers: one for each use of an external secret manager. Empty with the embedded one.",
    }),
    expirations_blocked: Type.Boolean({
      description:
        "True when more environments are due at once than may be deleted unconfirmed: none is deleted until fewer are due, or an admin confirms.",
    }),
  },
  titled("PlatformStatus", {
    status: "healthy",
    timestamp: MOMENT,
    version: "1.0.0",
    services: {
      datastore: { healthy: true, response_time_ms: 4, last_check: MOMENT },
      cache: { healthy: true, response_time_ms: 0, memory_usage: "84 MiB", age_seconds: 12, last_check: MOMENT },
      deployer: { healthy: true, applications_synced: 42, last_check: MOMENT },
    },
    circuit_breakers: [{ name: "secret-manager/api", state: "closed", since: MOMENT }],
    expirations_blocked: false,
  }),
);
export type StatusReply = Static<typeof StatusReply>;
