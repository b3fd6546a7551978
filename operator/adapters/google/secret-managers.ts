import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { tokenBucket } from "../../kit/time/rate-limits.ts";
import type { SecretManagers } from "../../ports/secret-manager.ts";
import { circuitBreaker } from "./circuit-breaker.ts";
import { clusterIdentity, googleClient, googleConnection } from "./connection.ts";
import { googleSecretManager } from "./secret-manager.ts";

/** Google admits 600 writes a minute per project; some are left for others. */
const WRITES_PER_SECOND = 8;

interface GoogleSettings {
  readonly project: string;
  /** Regions of the values; empty: Google's choice. */
  readonly locations?: readonly string[];
  readonly writesPerSecond?: number;
}

interface GoogleDependencies {
  readonly client: KubeClient;
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/** Google Secret Manager for controllers and API: one connection and write budget, and a circuit breaker each. */
export function googleSecretManagers(
  { project, locations = [], writesPerSecond = WRITES_PER_SECOND }: GoogleSettings,
  { client, isLeading, clock }: GoogleDependencies,
): SecretManagers {
  const [ofController, ofApi] = [circuitBreaker(clock), circuitBreaker(clock)];
  const shared = {
    project,
    locations,
    connection: googleConnection(() => googleClient(project)),
    installation: clusterIdentity(client),
    budget: tokenBucket(clock, writesPerSecond),
    clock,
  };
  return {
    forController: googleSecretManager({ ...shared, breaker: ofController, mayWrite: isLeading }),
    forApi: googleSecretManager({ ...shared, breaker: ofApi, mayWrite: () => true }),
    circuitBreakers: () => [
      { name: "secret-manager/api", ...ofApi.state() },
      { name: "secret-manager/operator", ...ofController.state() },
    ],
  };
}
