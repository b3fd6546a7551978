import { present } from "../../crds/present.ts";
import type { PlatformHealth } from "../../operator/ports/api/platform-health.ts";
import type { ReadyReply, StatusReply } from "./schemas.ts";

const MEBIBYTE = 1_048_576;

/** Ready while all dependencies are healthy and the process is not stopping. */
export function toReady(
  health: PlatformHealth,
  moment: { readonly now: Date; readonly isStopping: boolean },
): ReadyReply {
  const { datastore, cache, deployer } = health;
  const isReady = datastore.healthy && cache.healthy && deployer.healthy && !moment.isStopping;
  return {
    status: isReady ? "ready" : "not ready",
    checks: { datastore: word(datastore), cache: word(cache), deployer: word(deployer) },
    timestamp: moment.now.toISOString(),
  };
}

/** Facts of a status beside the dependencies. */
export interface About {
  readonly now: Date;
  readonly version: string;
  /** State of the request counters that replicas share. */
  readonly counters?: "up" | "down" | undefined;
}

/** Dependencies in detail. */
export function toStatus(health: PlatformHealth, about: About): StatusReply {
  const { datastore, cache, deployer, circuitBreakers } = health;
  const isHealthy = datastore.healthy && cache.healthy && deployer.healthy;
  const isWhole = about.counters !== "down" && circuitBreakers.every(({ state }) => state === "closed");
  return {
    status: isHealthy && !isWhole ? "degraded" : word({ healthy: isHealthy }),
    timestamp: about.now.toISOString(),
    version: about.version,
    services: {
      datastore: { ...checked(datastore), response_time_ms: Math.round(datastore.responseTimeMs) },
      cache: {
        ...checked(cache),
        response_time_ms: Math.round(cache.responseTimeMs),
        memory_usage: `${Math.round(cache.memoryBytes / MEBIBYTE)} MiB`,
        ...(Number.isFinite(cache.ageMs) ? { age_seconds: Math.ceil(cache.ageMs / 1000) } : {}),
        ...present({ redis: about.counters }),
      },
      deployer: { ...checked(deployer), applications_synced: deployer.applicationsSynced },
    },
    circuit_breakers: circuitBreakers.map(({ name, state, since }) => ({ name, state, since: since.toISOString() })),
    expirations_blocked: health.expirationsBlocked,
  };
}

const word = ({ healthy }: { readonly healthy: boolean }) => (healthy ? "healthy" : "unhealthy");

function checked({ healthy, lastCheck }: { readonly healthy: boolean; readonly lastCheck: Date }) {
  return { healthy, last_check: lastCheck.toISOString() };
}
