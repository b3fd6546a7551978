import { randomUUID } from "node:crypto";
import type { Settings } from "../../../config/settings.ts";
import { repositoriesOf } from "../../../crds/environment/ephemeral-environment.ts";
import { createUnverifiedMessages } from "../../../operator/announcements/unverified-message.ts";
import { createWebhookRegistrar } from "../../../operator/controllers/webhook-registration/registrar.ts";
import type { Log } from "../../../operator/kit/log.ts";
import type { Clock } from "../../../operator/kit/time/clock.ts";
import type { AuditTrail } from "../../../operator/ports/audit-trail.ts";
import type { ConfigSets } from "../../../operator/ports/config-sets.ts";
import type { Repositories } from "../../../operator/ports/repositories.ts";
import type { BranchHeads } from "../../../operator/ports/repository-host.ts";
import type { SecretManager } from "../../../operator/ports/secret-manager.ts";
import { decide } from "../../../operator/webhooks/decide.ts";
import { createWebhookInbox } from "../../../operator/webhooks/inbox.ts";
import { createWebhookKeys } from "../../../operator/webhooks/webhook-keys.ts";
import { WEBHOOK_FORMATS } from "../../../operator/wiring/hosts.ts";
import type { MemoryEnvironments } from "../doubles/memory/environments.ts";
import type { MemorySecretManager } from "../doubles/memory/secret-manager.ts";
import { memoryDecidedWrites } from "../doubles/memory/webhooks/decided-writes.ts";
import { memoryNotifications } from "../doubles/memory/webhooks/notifications.ts";
import { memoryRepositoryHooks } from "../doubles/memory/webhooks/repository-hooks.ts";
import { memoryWebhookDeliveries } from "../doubles/memory/webhooks/webhook-deliveries.ts";
import { WEBHOOK_KEY } from "../fixtures/webhooks/webhook-fixture.ts";

/** The global token of pipelines of the service under test. */
export const PIPELINE_TOKEN = "the-token-of-pipelines-in-all-the-tests";

export const webhookKeySettings = {
  secrets: [{ name: "webhook-key", key: "latest" }],
  pipelineTokens: [{ name: "pipeline-token", key: "latest" }],
};

/** A repository host with a token, and the service's address. */
export const hookSettings = {
  publicUrl: "https://environments.example.test/platform/",
  hosts: [
    {
      id: "git",
      kind: "gitea",
      apiUrl: "https://git.example.test/api/v1",
      token: { name: "git-token", key: "latest" },
    },
  ],
};

/** Stores the keys under the names in the settings. */
export function shareWebhookKeys({ share }: MemorySecretManager): void {
  share({ id: "webhook-key", labels: {}, values: [WEBHOOK_KEY] });
  share({ id: "pipeline-token", labels: {}, values: [PIPELINE_TOKEN] });
}

interface Parts {
  readonly settings: Settings;
  readonly environments: MemoryEnvironments;
  readonly repositories: Repositories;
  readonly configSets: Pick<ConfigSets, "find">;
  readonly branchHeads: BranchHeads;
  readonly secretManager: Pick<SecretManager, "read">;
  readonly audit: AuditTrail;
  readonly clock: Clock;
  readonly log: Log;
}

/** The real inbox, formats and rules in front of doubles. */
export function memoryWebhooks(parts: Parts) {
  const { settings, environments, repositories, secretManager, clock } = parts;
  const deliveries = memoryWebhookDeliveries(clock);
  const decisionContext = {
    ...parts,
    formats: WEBHOOK_FORMATS,
    environments: {
      find: (name: string) => environments.list().find(({ metadata }) => metadata.name === name),
      ofRepository: (name: string) => environments.list().filter((one) => repositoriesOf(one).includes(name)),
    },
    deliveries,
    recordsOf: () => [],
  };
  const notifications = memoryNotifications(clock);
  const webhookInbox = createWebhookInbox({
    ...parts,
    decisionContext,
    decide,
    deliveries,
    repositories,
    writes: memoryDecidedWrites(environments),
    newId: randomUUID,
    formats: WEBHOOK_FORMATS,
    keys: createWebhookKeys({ settings, secretManager, clock }),
    unverifiedMessages: createUnverifiedMessages({ settings, notifications, clock }),
  });
  const repositoryHooks = memoryRepositoryHooks();
  const webhookRegistrar = createWebhookRegistrar({ settings, secretManager, hooks: repositoryHooks });
  return { webhookInbox, webhookDeliveries: deliveries, notifications, webhookRegistrar, repositoryHooks };
}
