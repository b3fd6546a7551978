import type { CircuitBreakerState, PlatformHealthCheck } from "../../../../operator/ports/api/platform-health.ts";

type Dependency = "datastore" | "cache" | "deployer";

/** A platform whose dependencies a test can break. */
export interface MemoryPlatformHealth extends PlatformHealthCheck {
  setHealthy(dependency: Dependency, healthy: boolean): void;
  setAge(ageMs: number): void;
  setCircuitBreakers(...breakers: readonly CircuitBreakerState[]): void;
  setExpirationsBlocked(blocked: boolean): void;
}

/** All healthy at first. */
export function memoryPlatformHealth(lastCheck: Date): MemoryPlatformHealth {
  const healthy: Record<Dependency, boolean> = { datastore: true, cache: true, deployer: true };
  let ageMs = 11_500;
  let circuitBreakers: readonly CircuitBreakerState[] = [];
  let expirationsBlocked = false;
  return {
    check: async () => ({
      datastore: { healthy: healthy.datastore, responseTimeMs: 1.6, lastCheck },
      cache: { healthy: healthy.cache, responseTimeMs: 0, memoryBytes: 44040192, ageMs, lastCheck },
      deployer: { healthy: healthy.deployer, applicationsSynced: 2, lastCheck },
      circuitBreakers,
      expirationsBlocked,
    }),
    setHealthy: (dependency, isHealthy) => {
      healthy[dependency] = isHealthy;
    },
    setAge: (age) => {
      ageMs = age;
    },
    setCircuitBreakers: (...breakers) => {
      circuitBreakers = breakers;
    },
    setExpirationsBlocked: (blocked) => {
      expirationsBlocked = blocked;
    },
  };
}
