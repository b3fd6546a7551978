import { createHash } from "node:crypto";
import type { Settings } from "../config/settings.ts";
import { googleClient, googleConnection } from "./adapters/google-connection.ts";
import { googleSecretManager } from "./adapters/google-secret-manager.ts";
import { kubernetesSecretManager } from "./adapters/kubernetes-secret-manager.ts";
import { writeBudget } from "./adapters/write-budget.ts";
import type { Clock } from "./kit/clock.ts";
import type { KubeClient } from "./kit/kube-client.ts";
import type { SecretManager } from "./ports/secret-manager.ts";

/** Google admits 600 writes a minute to a project; some are left for others. */
const WRITES_PER_SECOND = 8;

export interface SecretManagersContext {
  /** For what users wait for. */
  readonly client: KubeClient;
  /** For passes: it writes nothing while this process does not lead. */
  readonly working: KubeClient;
  readonly isLeading: () => boolean;
  readonly clock: Clock;
}

/** The one secret manager that the settings choose, for passes and for what users wait for. */
export interface SecretManagers {
  readonly ofPasses: SecretManager;
  readonly ofUsers: SecretManager;
}

export function createSecretManagers(settings: Settings, context: SecretManagersContext): SecretManagers {
  const { secretManager: chosen, secretsNamespace: namespace } = settings;
  const { client, working, isLeading, clock } = context;
  if (chosen.kind === "embedded") {
    return {
      ofPasses: kubernetesSecretManager({ client: working, namespace }),
      ofUsers: kubernetesSecretManager({ client, namespace }),
    };
  }
  const { project, locations = [], writesPerSecond = WRITES_PER_SECOND } = chosen;
  const shared = {
    project,
    locations,
    connection: googleConnection(() => googleClient(project)),
    installation: installationLabel(settings.baseDomain),
  };
  const budget = writeBudget(clock, writesPerSecond);
  return {
    ofPasses: googleSecretManager({ ...shared, budget: { take: () => isLeading() && budget.take() } }),
    ofUsers: googleSecretManager({ ...shared, budget }),
  };
}

/**
 * Tells this installation's entries from those of another one in the same project, whose environments we don't know and
 * would take for gone. No two have the same base domain; a Google label holds 63 characters, and no dots.
 */
export function installationLabel(baseDomain: string): string {
  const label = baseDomain.toLowerCase().replaceAll(".", "_");
  if (/^[a-z0-9_-]{1,63}$/.test(label)) return label;
  return createHash("sha256").update(baseDomain).digest("hex").slice(0, 32);
}
