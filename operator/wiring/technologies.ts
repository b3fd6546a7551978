import type { Settings } from "../../config/settings.ts";
import { googleSecretManagers } from "../adapters/google/secret-managers.ts";
import { kubernetesSecretManager } from "../adapters/kubernetes/secret-manager.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { SecretManagers } from "../ports/secret-manager.ts";

/** Dependencies of secret managers. */
export interface SecretManagersContext {
  /** Client for users' calls. */
  readonly client: KubeClient;
  /** Client for controllers: writes only while leading. */
  readonly leaderClient: KubeClient;
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/** Secret manager of the settings. */
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
