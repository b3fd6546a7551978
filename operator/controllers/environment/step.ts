import type { StepCondition } from "../../../crds/conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import type { Findings, StepResult, StepResults } from "./step-result.ts";

/** The reconcile that a step runs in. */
export interface StepContext {
  /** The results of this reconcile so far; those of the steps in `after` are among them. */
  readonly earlier: StepResults;
  /** Waits for an earlier step that is needed only partway; resolves with true when steps after that one may run. */
  readonly canContinueAfter: (condition: StepCondition) => Promise<boolean>;
}

/** One idempotent step towards a ready environment. It is made with the settings and ports that it uses. */
export interface Step {
  readonly condition: StepCondition;
  /** Status fields of this step: its findings hold no others, and no other step writes them. */
  readonly writes: readonly (keyof EnvironmentStatus)[];
  /** Steps that must be done before; independent steps run in parallel. */
  readonly after: readonly StepCondition[];
  /** True when it runs although an earlier step is not done. */
  readonly alwaysRun?: (environment: EphemeralEnvironment) => boolean;
  /** True when later steps may use its former findings while it is not done. */
  readonly continueWithPrevious?: (environment: EphemeralEnvironment, result?: StepResult) => boolean;
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
