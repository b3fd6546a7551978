import type { Settings } from "../../config/settings.ts";
import { circuitBreaker } from "../adapters/google/circuit-breaker.ts";
import { googleClient, googleConnection } from "../adapters/google/connection.ts";
import { googleSecretManager } from "../adapters/google/secret-manager.ts";
import { kubernetesSecretManager } from "../adapters/kubernetes/secret-manager.ts";
import { KubeError } from "../kit/client/errors.ts";
import { namespaceKind } from "../kit/client/kinds.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Clock } from "../kit/time/clock.ts";
import { tokenBucket } from "../kit/time/token-bucket.ts";
import type { CircuitBreakerState } from "../ports/facade/platform-health.ts";
import { type SecretManager, SecretManagerUnavailable } from "../ports/secret-manager.ts";

/** Google admits 600 writes a minute to a project; some are left for others. */
const WRITES_PER_SECOND = 8;

export interface SecretManagersContext {
  /** For what users wait for. */
  readonly client: KubeClient;
  /** For passes: it writes nothing while this process does not lead. */
  readonly leaderClient: KubeClient;
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/** The one secret manager that the settings choose, for passes and for what users wait for. */
export interface SecretManagers {
  readonly forController: SecretManager;
  readonly forApi: SecretManager;
  /** In front of a secret manager that is a service elsewhere. */
  circuitBreakers(): readonly CircuitBreakerState[];
}

export function createSecretManagers(settings: Settings, context: SecretManagersContext): SecretManagers {
  const { secretManager: chosen, secretsNamespace: namespace } = settings;
  const { client, leaderClient, isLeading, clock } = context;
  if (chosen.kind === "embedded") {
    return {
      forController: kubernetesSecretManager({ client: leaderClient, namespace }),
      forApi: kubernetesSecretManager({ client, namespace }),
      circuitBreakers: () => [],
    };
  }
  const { project, locations = [], writesPerSecond = WRITES_PER_SECOND } = chosen;
  const shared = {
    project,
    locations,
    connection: googleConnection(() => googleClient(project)),
    installation: clusterIdentity(client),
    budget: tokenBucket(clock, writesPerSecond),
    clock,
  };
  const [passes, users] = [circuitBreaker(clock), circuitBreaker(clock)];
  return {
    forController: googleSecretManager({ ...shared, breaker: passes, mayWrite: isLeading }),
    forApi: googleSecretManager({ ...shared, breaker: users, mayWrite: () => true }),
    circuitBreakers: () => [
      { name: "secret-manager/api", ...users.state() },
      { name: "secret-manager/operator", ...passes.state() },
    ],
  };
}

/**
 * Tells this installation's entries from those of another one in the same project, whose environments we don't know and
 * would take for gone. A cluster has one installation, and is known by the UID of `kube-system`, which nobody can make
 * anew; asked for once, when it is needed first.
 */
export function clusterIdentity(client: KubeClient): () => Promise<string> {
  let identity: Promise<string> | undefined;

  async function read(): Promise<string> {
    const found = await client.find(namespaceKind, { name: "kube-system" }, { metadataOnly: true });
    if (found === undefined)
      throw new SecretManagerUnavailable("there is no namespace kube-system to tell clusters by");
    return found.metadata.uid;
  }

  return () => {
    identity ??= read().catch((error) => {
      identity = undefined;
      if (!(error instanceof KubeError)) throw error;
      throw new SecretManagerUnavailable(`the cluster does not say which one it is: ${error.message}`, {
        cause: error,
      });
    });
    return identity;
  };
}
