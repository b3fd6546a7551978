import type { CacheSet } from "../../kit/cache/cache-set.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { resourcePath } from "../../kit/client/objects.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { within } from "../../kit/time/deadline.ts";
import type { CircuitBreakerState, PlatformHealth, PlatformHealthCheck } from "../../ports/api/platform-health.ts";
import type { DeployerHealth } from "../../ports/deployer.ts";
import { environmentType } from "./kinds.ts";

const ANSWER_MS = 2_000;
const DEADLINE_MS = 2_000;
/** A watch shows life every minute; a half-open one is replaced within another. */
const SILENT_WATCH_MS = 120_000;
/** More than one object's size, so that its response is read to the end and its connection kept. */
const ANSWER_LIMIT_BYTES = 1024 ** 2;

interface HealthSources {
  readonly client: KubeClient;
  readonly caches: Pick<CacheSet, "synced" | "oldestProgressMs">;
  readonly deployer: DeployerHealth;
  readonly circuitBreakers: () => readonly CircuitBreakerState[];
  /** Judged by the caches, so that all replicas agree with the leader. */
  readonly expirationsBlocked: () => boolean;
  readonly clock: Clock;
}

/** PlatformHealthCheck port: the Kubernetes API, the watch caches, and the deployer's objects. */
export function kubernetesPlatformHealth(sources: HealthSources): PlatformHealthCheck {
  const { clock } = sources;
  let known: { readonly endsMs: number; readonly health: Promise<PlatformHealth> } | undefined;
  return {
    check() {
      if (known === undefined || known.endsMs <= clock.monotonicMs()) {
        known = { endsMs: clock.monotonicMs() + ANSWER_MS, health: check(sources) };
      }
      return known.health;
    },
  };
}

async function check(sources: HealthSources): Promise<PlatformHealth> {
  const { caches, clock } = sources;
  const [datastore, deployer] = await Promise.all([
    probe(sources, resourcePath(environmentType, {})),
    probe(sources, sources.deployer.path),
  ]);
  const lastCheck = clock.now();
  const ageMs = caches.synced ? caches.oldestProgressMs : Number.POSITIVE_INFINITY;
  return {
    datastore: { healthy: datastore.answered, responseTimeMs: datastore.tookMs, lastCheck },
    cache: {
      healthy: ageMs < SILENT_WATCH_MS,
      responseTimeMs: 0,
      memoryBytes: process.memoryUsage().heapUsed,
      ageMs,
      lastCheck,
    },
    deployer: {
      healthy: deployer.answered && caches.synced,
      applicationsSynced: sources.deployer.applicationsSynced(),
      lastCheck,
    },
    circuitBreakers: sources.circuitBreakers(),
    expirationsBlocked: sources.expirationsBlocked(),
  };
}

/**
 * Reads one object of a collection, because one object's absence looks like the absence of its kind; of a stored kind,
 * because an API server without its database still answers others. Any error means "not healthy".
 */
async function probe({ client, clock }: HealthSources, path: string): Promise<{ answered: boolean; tookMs: number }> {
  const startMs = clock.monotonicMs();
  const answered = await within({ clock, deadlineMs: DEADLINE_MS }, ({ signal }) =>
    client.text(path, { limit: "1" }, { signal, limitBytes: ANSWER_LIMIT_BYTES }),
  ).then(
    () => true,
    () => false,
  );
  return { answered, tookMs: Math.round(clock.monotonicMs() - startMs) };
}
