import type { Settings } from "../../../config/settings.ts";
import type { StepCondition } from "../../../crds/conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { GeneratedSecret } from "../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Clock } from "../../kit/time/clock.ts";
import type { Cluster } from "../../ports/cluster.ts";
import type { ConfigSets, ConfigSetVersions } from "../../ports/config-sets.ts";
import type { Deployer } from "../../ports/deployer.ts";
import type { Pods } from "../../ports/pods.ts";
import type { Repositories } from "../../ports/repositories.ts";
import type { RepositoryHost } from "../../ports/repository-host.ts";
import type { SecretManager } from "../../ports/secret-manager.ts";
import type { UrlProber } from "../../ports/url-prober.ts";
import type { BackingService } from "./backing-services/backing-service.ts";
import type { Findings, StepResult, StepResults } from "./step-result.ts";

/** The settings and ports that steps use. */
export interface StepDependencies {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly cluster: Cluster;
  readonly deployer: Deployer;
  readonly secretManager: SecretManager;
  readonly pods: Pods;
  readonly prober: UrlProber;
  readonly repositories: Repositories;
  readonly repositoryHost: RepositoryHost;
  readonly configSets: ConfigSets;
  readonly configSetVersions: ConfigSetVersions;
  /** The environments that name the Repository, from this process's cache. */
  readonly environmentsOf: (repository: string) => readonly EphemeralEnvironment[];
  /** The backing services that environments may have. */
  readonly backingServices: readonly BackingService[];
  /** A new random value of the kind and length. */
  readonly generateSecret: (shape: GeneratedSecret) => Sensitive;
}

/** Everything outside the environment that a step may use. */
export interface StepContext extends StepDependencies {
  /** Aborts when the reconcile must stop: its deadline has passed, or this process is no longer the leader. */
  readonly signal: AbortSignal;
  /** The results of this reconcile so far; those of the steps in `after` are among them. */
  readonly earlier: StepResults;
  /** Waits for an earlier step that is needed only partway; resolves with true when steps after that one may run. */
  readonly canContinueAfter: (condition: StepCondition) => Promise<boolean>;
}

/** One idempotent step towards a ready environment. */
export interface Step {
  readonly condition: StepCondition;
  /** Status fields of this step: its findings hold no others, and no other step writes them. */
  readonly writes: readonly (keyof EnvironmentStatus)[];
  /** Steps that must be done before; independent steps run in parallel. */
  readonly after: readonly StepCondition[];
  /** True when it runs although an earlier step is not done. */
  readonly alwaysRun?: (environment: EphemeralEnvironment) => boolean;
  /** True when later steps may use its former findings while it is not done. */
  readonly continueWithPrevious?: (
    environment: EphemeralEnvironment,
    context: StepContext,
    result?: StepResult,
  ) => boolean;
  /**
   * Runs the step. May throw errors known to `errorResult`; any other is transient, and the controller retries with
   * backoff.
   *
   * @param environment its status includes this reconcile's earlier findings
   */
  run(environment: EphemeralEnvironment, context: StepContext): Promise<StepResult>;
  /**
   * Removes remains of former pods. Called after all steps, with their results in `context.earlier`; an error changes
   * no result and is retried with backoff.
   */
  cleanUp?(environment: EphemeralEnvironment, context: StepContext): Promise<Findings>;
}

/** Blocks writes of pods' prerequisites into a namespace without isolation. */
export class NotIsolated extends Error {
  override readonly name = "NotIsolated";

  constructor() {
    super("waiting for the namespace to be isolated: see the condition IsolationReady");
  }
}
