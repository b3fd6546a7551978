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

interface Context {
  readonly client: KubeClient;
  readonly caches: Pick<CacheSet, "synced" | "oldestProgressMs">;
  readonly deployer: DeployerHealth;
  readonly circuitBreakers: () => readonly CircuitBreakerState[];
  /** Judged by the caches, so that all replicas agree with the leader. */
  readonly expirationsBlocked: () => boolean;
  readonly clock: Clock;
}

/** PlatformHealthCheck port: the Kubernetes API, the watch caches, and the deployer's objects. */
export function kubernetesPlatformHealth(context: Context): PlatformHealthCheck {
  const { clock } = context;
  let known: { readonly endsMs: number; readonly health: Promise<PlatformHealth> } | undefined;
  return {
    check() {
      if (known === undefined || known.endsMs <= clock.monotonicMs()) {
        known = { endsMs: clock.monotonicMs() + ANSWER_MS, health: ask(context) };
      }
      return known.health;
    },
  };
}

async function ask(context: Context): Promise<PlatformHealth> {
  const { client, caches, clock } = context;
  const [datastore, deployer] = await Promise.all([
    timed(clock, (signal) => askForOne(client, resourcePath(environmentType, {}), signal)),
    timed(clock, (signal) => askForOne(client, context.deployer.path, signal)),
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
      applicationsSynced: context.deployer.applicationsSynced(),
      lastCheck,
    },
    circuitBreakers: context.circuitBreakers(),
    expirationsBlocked: context.expirationsBlocked(),
  };
}

/**
 * A collection, because one object's absence looks like the absence of its kind; a stored kind, because an API server
 * without its database still answers others.
 */
function askForOne(client: KubeClient, path: string, signal: AbortSignal): Promise<string> {
  return client.text(path, { limit: "1" }, { signal, limitBytes: ANSWER_LIMIT_BYTES });
}

/** Health is a fact, not a failure: any error here means "not healthy". */
async function timed(
  clock: Clock,
  call: (signal: AbortSignal) => Promise<unknown>,
): Promise<{ answered: boolean; tookMs: number }> {
  const begun = clock.monotonicMs();
  const answered = await within({ clock, deadlineMs: DEADLINE_MS }, ({ signal }) => call(signal)).then(
    () => true,
    () => false,
  );
  return { answered, tookMs: Math.round(clock.monotonicMs() - begun) };
}
