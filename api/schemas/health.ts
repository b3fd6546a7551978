/** The health endpoints' replies. */
import { type Static, Type } from "typebox";
import { closed, literals } from "../../crds/schema.ts";
import { Instant } from "./fields.ts";

export const HealthReply = closed(
  { status: literals(["healthy"]), timestamp: Instant, version: Type.String(), service: Type.String() },
  { title: "Health" },
);

const Check = literals(["healthy", "unhealthy"]);
export const ReadyReply = closed(
  {
    status: literals(["ready", "not ready"]),
    checks: closed({ datastore: Check, cache: Check, deployer: Check }),
    timestamp: Instant,
  },
  { title: "Readiness" },
);
export type ReadyReply = Static<typeof ReadyReply>;

const service = { healthy: Type.Boolean(), last_check: Instant };
const ResponseTime = Type.Integer({ minimum: 0, description: "Milliseconds." });
export const StatusReply = closed(
  {
    status: literals(["healthy", "unhealthy"]),
    timestamp: Instant,
    version: Type.String(),
    services: closed({
      datastore: closed({ ...service, response_time_ms: ResponseTime }),
      cache: closed({ ...service, response_time_ms: ResponseTime, memory_usage: Type.String() }),
      deployer: closed({ ...service, applications_synced: Type.Integer({ minimum: 0 }) }),
    }),
  },
  { title: "PlatformStatus" },
);
export type StatusReply = Static<typeof StatusReply>;
