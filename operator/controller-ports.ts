import type { Settings } from "../config/settings.ts";
import type { EphemeralEnvironment } from "../crds/environment/ephemeral-environment.ts";
import type { Repository, RepositoryStatus } from "../crds/repository/repository.ts";
import type { OwnDeletions } from "./kit/client/own-deletions.ts";
import type { Log } from "./kit/log.ts";
import type { ApiTokens } from "./ports/api-tokens.ts";
import type { Caches } from "./ports/caches.ts";
import type { Clock, ServerClock } from "./ports/clock.ts";
import type { Cluster } from "./ports/cluster.ts";
import type { ConfigSets, ConfigSetVersions } from "./ports/config-sets.ts";
import type { Deployer } from "./ports/deployer.ts";
import type { EnvironmentStatusWriter, OperatorEnvironments } from "./ports/environments.ts";
import type { EventRecorder } from "./ports/event-recorder.ts";
import type { Inventory } from "./ports/inventory.ts";
import type { NamespaceContents } from "./ports/namespace-contents.ts";
import type { Pods } from "./ports/pods.ts";
import type { Records } from "./ports/records.ts";
import type { Repositories } from "./ports/repositories.ts";
import type { RepositoryHost } from "./ports/repository-host.ts";
import type { SecretManager } from "./ports/secret-manager.ts";
import type { StatusWriter } from "./ports/status-writer.ts";
import type { UrlProber } from "./ports/url-prober.ts";

/** Dependencies of all controllers; each picks its own. */
export interface ControllerPorts extends Inventory {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  /** Uniform in [0, 1): spreads periodic work; never for secrets. */
  readonly random: () => number;
  readonly caches: Caches;
  readonly deletions: OwnDeletions;
  readonly cluster: Cluster;
  readonly namespaceContents: NamespaceContents;
  readonly deployer: Deployer;
  readonly secretManager: SecretManager;
  readonly pods: Pods;
  readonly prober: UrlProber;
  readonly repositoryHost: RepositoryHost;
  readonly environments: OperatorEnvironments;
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  readonly environmentsOf: (repository: string) => readonly EphemeralEnvironment[];
  readonly environmentsNaming: (configSet: string) => readonly EphemeralEnvironment[];
  readonly statusWriter: EnvironmentStatusWriter;
  readonly repositories: Repositories;
  /** True when a cached environment uses the Repository of this name. */
  readonly isUsed: (repository: string) => boolean;
  readonly repositoryStatusWriter: StatusWriter<Repository, RepositoryStatus>;
  readonly configSets: ConfigSets;
  readonly configSetVersions: ConfigSetVersions;
  readonly apiTokens: ApiTokens;
  readonly records: Records;
  readonly events: EventRecorder;
}
