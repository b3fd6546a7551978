import type { Settings } from "../../config/settings.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Repository, RepositoryStatus } from "../../crds/repository/repository.ts";
import type { OwnDeletions } from "../kit/client/own-deletions.ts";
import type { Log } from "../kit/log.ts";
import type { ApiTokens } from "./api-tokens.ts";
import type { Caches } from "./caches.ts";
import type { Clock, ServerClock } from "./clock.ts";
import type { Cluster } from "./cluster.ts";
import type { ConfigSets, ConfigSetVersions } from "./config-sets.ts";
import type { Deployer } from "./deployer.ts";
import type { EnvironmentStatusWriter, OperatorEnvironments } from "./environments.ts";
import type { EventRecorder } from "./event-recorder.ts";
import type { Inventory } from "./inventory.ts";
import type { Pods } from "./pods.ts";
import type { Records } from "./records.ts";
import type { Repositories } from "./repositories.ts";
import type { RepositoryHost } from "./repository-host.ts";
import type { SecretManager } from "./secret-manager.ts";
import type { StatusWriter } from "./status-writer.ts";
import type { UrlProber } from "./url-prober.ts";

/** All that the controllers need of the world; each of them picks what it uses. */
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
  readonly deployer: Deployer;
  readonly secretManager: SecretManager;
  readonly pods: Pods;
  readonly prober: UrlProber;
  readonly repositoryHost: RepositoryHost;
  readonly environments: OperatorEnvironments;
  /** The environment from this process's cache, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  /** The environments that name the Repository, from this process's cache. */
  readonly environmentsOf: (repository: string) => readonly EphemeralEnvironment[];
  /** The environments that name the config set, from this process's cache. */
  readonly environmentsNaming: (configSet: string) => readonly EphemeralEnvironment[];
  readonly statusWriter: EnvironmentStatusWriter;
  readonly repositories: Repositories;
  /** Whether an environment uses the Repository of this name, from this process's cache. */
  readonly isUsed: (repository: string) => boolean;
  readonly repositoryStatusWriter: StatusWriter<Repository, RepositoryStatus>;
  readonly configSets: ConfigSets;
  readonly configSetVersions: ConfigSetVersions;
  readonly apiTokens: ApiTokens;
  readonly records: Records;
  readonly events: EventRecorder;
}
