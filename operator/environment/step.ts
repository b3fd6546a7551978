import type { Settings } from "../../config/settings.ts";
import type { StepCondition } from "../../crds/conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { WantedSecret } from "../../crds/repository/repository.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { Cluster } from "../ports/cluster.ts";
import type { ConfigSets, ConfigSetVersions } from "../ports/config-sets.ts";
import type { Deployer } from "../ports/deployer.ts";
import type { Pods } from "../ports/pods.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { RepositoryHost } from "../ports/repository-host.ts";
import type { SecretManager } from "../ports/secret-manager.ts";
import type { UrlProber } from "../ports/url-prober.ts";

/** What a step found out, for the status; merged over what the status held. */
export type Findings = Partial<Omit<EnvironmentStatus, "conditions" | "phase">>;

/**
 * How a step ended. `waiting` will be looked at again by itself, `failed` when a watch or a new spec
 * wakes it (or after `requeueAfterMs`).
 * A refusal of a port may simply travel up: the walk knows what each means. Anything else that is thrown is transient,
 * and the pass is taken again with backoff.
 */
export type StepResult =
  | { readonly state: "done"; readonly reason: string; readonly findings?: Findings; readonly requeueAfterMs?: number }
  | {
      readonly state: "waiting";
      readonly reason: string;
      readonly message: string;
      readonly findings?: Findings;
      readonly requeueAfterMs: number;
      /** What it found is to be stored before anything is made of it. */
      readonly persistFirst?: boolean;
    }
  | {
      readonly state: "failed";
      readonly reason: string;
      readonly message: string;
      readonly findings?: Findings;
      readonly requeueAfterMs?: number;
    };

/** How the steps of one pass ended, as far as they were taken. */
export type StepResults = ReadonlyMap<StepCondition, StepResult>;

/** How a step ended that was not done. */
export type Unfinished = Exclude<StepResult, { readonly state: "done" }>;

export function done(reason: string, more: { findings?: Findings; requeueAfterMs?: number } = {}): StepResult {
  return { state: "done", reason, ...more };
}

export function waiting(
  reason: string,
  message: string,
  more: { requeueAfterMs: number; findings?: Findings; persistFirst?: boolean },
): Unfinished {
  return { state: "waiting", reason, message, ...more };
}

export function failed(reason: string, message: string): Unfinished {
  return { state: "failed", reason, message };
}

/** Everything outside the environment that a step may use. */
export interface StepContext {
  readonly settings: Settings;
  readonly cluster: Cluster;
  readonly secretManager: SecretManager;
  readonly deployer: Deployer;
  readonly pods: Pods;
  readonly repositories: Repositories;
  /** The environments that name the Repository, as this process's cache has them. */
  readonly environmentsOf: (repository: string) => readonly EphemeralEnvironment[];
  readonly configSets: ConfigSets;
  readonly configSetVersions: ConfigSetVersions;
  readonly repositoryHost: RepositoryHost;
  readonly prober: UrlProber;
  /** A new random value of the wanted shape. */
  readonly generateSecret: (wanted: WantedSecret) => Sensitive;
  readonly clock: Clock;
  /** Aborts when the pass may do no more: its time is up, or this process leads no longer. */
  readonly signal: AbortSignal;
  /** How the steps ended that this pass has taken so far: what a step is to come `after` is among them. */
  readonly earlier: StepResults;
  /**
   * Waits until a step that comes earlier in the plan has ended in this pass, for a step that needs it only on its way;
   * answers whether what comes after that one may go on.
   */
  readonly passes: (condition: StepCondition) => Promise<boolean>;
}

/** One idempotent step towards a ready environment. */
export interface Step {
  /** The condition that tells users how it went. */
  readonly condition: StepCondition;
  /** The steps that must be done before this one may begin; steps that don't need each other run side by side. */
  readonly after: readonly StepCondition[];
  /** Whether it is taken although a step before it is not done: for what must be watched all the time. */
  readonly alwaysRun?: (environment: EphemeralEnvironment) => boolean;
  /** Whether the steps after it may go on with what it found before, although it is not done now: `result` says why. */
  readonly continueWithPrevious?: (
    environment: EphemeralEnvironment,
    context: StepContext,
    result?: StepResult,
  ) => boolean;
  /** `environment.status` holds what earlier steps found in this very pass. */
  run(environment: EphemeralEnvironment, context: StepContext): Promise<StepResult>;
}

/** Nothing that pods could run with is put into the namespace while its isolation does not stand. */
export class NotIsolated extends Error {
  override readonly name = "NotIsolated";

  constructor() {
    super("Secrets come into the namespace when its isolation stands: IsolationReady says what is missing");
  }
}

/** Something stopped a step on its way: what it had found by then is kept, and the cause decides about the rest. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly findings: Findings;

  constructor(findings: Findings, cause: unknown) {
    super("a step was interrupted", { cause });
    this.findings = findings;
  }
}
