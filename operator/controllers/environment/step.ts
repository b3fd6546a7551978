import type { Settings } from "../../../config/settings.ts";
import type { StepCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { WantedSecret } from "../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Cluster } from "../../ports/cluster.ts";
import type { ConfigSets, ConfigSetVersions } from "../../ports/config-sets.ts";
import type { Deployer } from "../../ports/deployer.ts";
import type { Pods } from "../../ports/pods.ts";
import type { Repositories } from "../../ports/repositories.ts";
import type { RepositoryHost } from "../../ports/repository-host.ts";
import type { SecretManager } from "../../ports/secret-manager.ts";
import type { UrlProber } from "../../ports/url-prober.ts";
import type { BackingService } from "./backing-services/backing-service.ts";
import type { Findings, OwnFindings, StepField, StepResult, StepResults } from "./step-result.ts";

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
  /** A new random value of the wanted kind and length. */
  readonly generateSecret: (wanted: WantedSecret) => Sensitive;
}

/** The dependencies of one run of the steps. */
export interface RunContext extends StepDependencies {
  /** Aborts when the reconcile must stop: its deadline has passed, or this process is no longer the leader. */
  readonly signal: AbortSignal;
}

/** Everything outside the environment that a step may use. */
export interface StepContext extends RunContext {
  /** The results of this reconcile so far; those of the steps in `after` are among them. */
  readonly earlier: StepResults;
  /**
   * Waits until a step earlier in the plan has ended in this reconcile, for a step that needs it only partway; returns
   * whether steps after that one may run.
   */
  readonly canContinueAfter: (condition: StepCondition) => Promise<boolean>;
}

/** One idempotent step towards a ready environment; `W` are the status fields that it writes. */
export interface Step<W extends StepField = StepField> {
  /** The condition that shows users its result. */
  readonly condition: StepCondition;
  /** The status fields that it finds out; no other step writes them. */
  readonly writes: readonly W[];
  /** The steps that must be done before this one; steps that don't need each other run in parallel. */
  readonly after: readonly StepCondition[];
  /** Whether it runs although a step before it is not done. */
  readonly alwaysRun?: (environment: EphemeralEnvironment) => boolean;
  /** Whether the steps after it may use its former findings when it is not done; `result` is how it ended. */
  readonly continueWithPrevious?: (
    environment: EphemeralEnvironment,
    context: StepContext,
    result?: StepResult,
  ) => boolean;
  /**
   * Port errors that `errorResult` knows may be thrown; any other error is transient, and the controller retries with
   * backoff.
   *
   * @param environment its status includes what earlier steps found in this reconcile
   */
  run(environment: EphemeralEnvironment, context: StepContext): Promise<StepResult<OwnFindings<W>>>;
  /**
   * Removes what only former pods needed. Called when every step has ended, with all results in `context.earlier`; an
   * error changes no result and is retried with backoff.
   */
  cleanUp?(environment: EphemeralEnvironment, context: StepContext): Promise<Findings<W>>;
}

/** Nothing that pods need to start is written into a namespace that is not isolated yet. */
export class NotIsolated extends Error {
  override readonly name = "NotIsolated";

  constructor() {
    super("waiting for the namespace to be isolated: see the condition IsolationReady");
  }
}
