import type { Settings } from "../config/settings.ts";
import type { Sensitive } from "../crds/sensitive.ts";
import type { Log } from "../operator/kit/log.ts";
import type { Clock } from "../operator/kit/time/clock.ts";
import type { ChartTemplates } from "../operator/ports/api/chart-templates.ts";
import type { Environments } from "../operator/ports/api/environments.ts";
import type { PlatformHealthCheck } from "../operator/ports/api/platform-health.ts";
import type { PodLogs, Workloads } from "../operator/ports/api/pods.ts";
import type { SharedCounters } from "../operator/ports/api/shared-counters.ts";
import type { UnknownNames } from "../operator/ports/api/unknown-names.ts";
import type { WebhookInbox } from "../operator/ports/api/webhook-inbox.ts";
import type { WebhookRegistrar } from "../operator/ports/api/webhook-registrar.ts";
import type { ApiTokens } from "../operator/ports/api-tokens.ts";
import type { ConfigSets } from "../operator/ports/config-sets.ts";
import type { DeployerLog } from "../operator/ports/deployer.ts";
import type { Metrics } from "../operator/ports/metrics.ts";
import type { History } from "../operator/ports/records.ts";
import type { Repositories, RepositoryReloads } from "../operator/ports/repositories.ts";
import type { BranchHeads } from "../operator/ports/repository-host.ts";
import type { Rollups } from "../operator/ports/rollups.ts";
import type { SecretManager } from "../operator/ports/secret-manager.ts";
import type { WebhookDeliveries } from "../operator/ports/webhooks/webhook-deliveries.ts";
import type { PasswordResets } from "./account/password-resets.ts";
import type { HourlyRates } from "./costs/hourly-rates.ts";
import type { UrlChecks } from "./environments/urls/url-checks.ts";
import type { Memo } from "./observability/memo.ts";
import type { RepositoryQuotas } from "./repositories/repository-quotas.ts";

/** Services of the handlers. */
export interface Services {
  readonly settings: Settings;
  readonly environments: Environments;
  readonly repositories: Repositories;
  readonly repositoryReloads: RepositoryReloads;
  readonly unknownNames: UnknownNames;
  readonly branchHeads: BranchHeads;
  readonly configSets: ConfigSets;
  readonly chartTemplates: ChartTemplates;
  readonly apiTokens: ApiTokens;
  readonly secretManager: Pick<SecretManager, "ensure" | "remove" | "shared">;
  /** Key of the links in expiry warnings; throws SecretManagerUnavailable. */
  readonly extensionKey: () => Promise<Sensitive>;
  readonly health: PlatformHealthCheck;
  readonly passwordResets: PasswordResets;
  readonly urlChecks: UrlChecks;
  readonly quotas: RepositoryQuotas;
  readonly podLogs: PodLogs;
  readonly workloads: Workloads;
  readonly deployerLog: DeployerLog;
  readonly webhookInbox: WebhookInbox;
  readonly webhookDeliveries: WebhookDeliveries;
  readonly webhookRegistrar: WebhookRegistrar;
  readonly history: History;
  readonly memo: Memo;
  readonly rollups: Rollups;
  readonly hourlyRates: HourlyRates;
  /** Counters of requests, and all metrics of this process. */
  readonly metrics: Pick<Metrics, "requests" | "scrape">;
  /** Request counters that all replicas share. */
  readonly counters?: SharedCounters | undefined;
  readonly clock: Clock;
  /** Cryptographically random bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** Adds the request's id to its lines. */
  readonly log: Log;
  readonly version: string;
  /** Aborted when this process begins to stop, and is no longer ready. */
  readonly stopping: AbortSignal;
}
