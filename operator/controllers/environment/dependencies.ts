import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { WantedSecret } from "../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Announcer } from "../../announcements/announcer.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Cluster, ServerClock } from "../../ports/cluster.ts";
import type { ConfigSets, ConfigSetVersions } from "../../ports/config-sets.ts";
import type { Deployer } from "../../ports/deployer.ts";
import type { EnvironmentStatusWriter, OperatorEnvironments } from "../../ports/environments.ts";
import type { EventRecorder } from "../../ports/event-recorder.ts";
import type { NamespaceContents } from "../../ports/namespace-contents.ts";
import type { Pods } from "../../ports/pods.ts";
import type { Records } from "../../ports/records.ts";
import type { Repositories } from "../../ports/repositories.ts";
import type { RepositoryHost } from "../../ports/repository-host.ts";
import type { SecretManager } from "../../ports/secret-manager.ts";
import type { UrlProber } from "../../ports/url-prober.ts";
import type { PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";
import type { BackingService } from "./backing-services/backing-service.ts";

/** The settings and ports of the reconcile of environments. Steps, deletion and expiry each name their part of it. */
export interface EnvironmentDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  /** Uniform in [0, 1): spreads periodic work; never for secrets. */
  readonly random: () => number;
  readonly cluster: Cluster;
  readonly namespaceContents: NamespaceContents;
  readonly deployer: Deployer;
  readonly secretManager: SecretManager;
  readonly pods: Pods;
  readonly prober: UrlProber;
  readonly environments: OperatorEnvironments;
  /** The environment from this process's cache, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  /** The environments that name the Repository, from this process's cache. */
  readonly environmentsOf: (repository: string) => readonly EphemeralEnvironment[];
  readonly statusWriter: EnvironmentStatusWriter;
  readonly records: Records;
  readonly repositories: Repositories;
  readonly repositoryHost: RepositoryHost;
  readonly configSets: ConfigSets;
  readonly configSetVersions: ConfigSetVersions;
  readonly events: EventRecorder;
  /** Makes the messages about changes; `undefined` where the settings name no recipients. */
  readonly announcer: Announcer | undefined;
  readonly pullRequestHost: PullRequestHost;
  /** The backing services that environments may have. */
  readonly backingServices: readonly BackingService[];
  /** A new random value of the wanted kind and length. */
  readonly generateSecret: (wanted: WantedSecret) => Sensitive;
}
