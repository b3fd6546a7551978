import type { Settings } from "../../config/settings.ts";
import { googleSecretManagers } from "../adapters/google/secret-managers.ts";
import { kubernetesSecretManager } from "../adapters/kubernetes/secret-manager.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { SecretManagers } from "../ports/secret-manager.ts";

/** What secret managers are made from. */
export interface SecretManagersContext {
  /** For what users wait for. */
  readonly client: KubeClient;
  /** For controllers: it writes nothing while this process does not lead. */
  readonly leaderClient: KubeClient;
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/** The secret manager that the settings choose. */
export function createSecretManagers(settings: Settings, context: SecretManagersContext): SecretManagers {
  const { secretManager: chosen, secretsNamespace: namespace } = settings;
  const { client, leaderClient } = context;
  switch (chosen.kind) {
    case "embedded":
      return {
        forController: kubernetesSecretManager({ client: leaderClient, namespace }),
        forApi: kubernetesSecretManager({ client, namespace }),
        circuitBreakers: () => [],
      };
    case "google":
      return googleSecretManagers(chosen, context);
  }
}
