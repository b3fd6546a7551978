import type {
  EnvironmentSpec,
  EnvironmentStatus,
  EphemeralEnvironment,
} from "../../crds/environment/ephemeral-environment.ts";
import type { DeletionCause } from "../../crds/environment/manifest.schema.ts";
import { EnvironmentConflict } from "../../crds/errors.ts";
import type { StatusWriter } from "./cluster.ts";

/**
 * Environments for the controllers; `api/environments.ts` has more for the REST interface. Reads come from this process's cache with its own writes. Calls to the Kubernetes API may throw ClusterUnavailable.
 */
export interface OperatorEnvironments {
  /** All environments, unordered, in a new array. Throws ClusterUnavailable before the first list. */
  list(): EphemeralEnvironment[];
  /** Count of matching environments, by a fresh read of all: for a decision that must miss none. */
  countNow(isMeant: (environment: EphemeralEnvironment) => boolean): Promise<number>;
  /** A fresh read of exactly this environment (its UID), with its `managedFields`; `undefined` when it is gone. */
  reread(environment: EphemeralEnvironment): Promise<EphemeralEnvironment | undefined>;
  /**
   * Requests the deletion of exactly this environment (its UID); fine when it is terminating or gone.
   *
   * @returns "changed" when the version no longer holds: decide again
   * @throws EnvironmentConflict when it is protected
   * @throws RemovalRefused, a conflict too, when missing rights or an admission policy refuse it
   */
  remove(environment: EphemeralEnvironment, options?: RemovalOptions): Promise<"removing" | "changed">;
}

export interface RemovalOptions {
  /** Deletes only an unchanged object: for deletions decided from state. */
  readonly onlyThisVersion?: boolean;
  /** Cause for the record, stored on an environment that Git or a webhook may restore. */
  readonly cause?: DeletionCause;
  /** Removes the past `spec.protectedUntil` with a write before the deletion. */
  readonly liftsProtection?: boolean;
}

/**
 * Writes of a decision about environments; each method sends one. All may throw ClusterUnavailable, and answer
 * "changed" when what was read no longer holds, or the name is taken: decide again.
 */
export interface DecidedWrites {
  /** A fresh read; `undefined` without one of that name. */
  findNow(name: string): Promise<EphemeralEnvironment | undefined>;
  /**
   * Creates the resource with these annotations; the API server is the lock on the name.
   *
   * @param auditId names the audit record of the decision, and is written on the resource
   * @throws ConfigInvalid when the API server refuses the manifest, CreationFailed when it refuses the platform
   */
  create(
    name: string,
    spec: EnvironmentSpec,
    auditId: string,
    annotations?: Readonly<Record<string, string>>,
  ): Promise<EphemeralEnvironment | "changed">;
  /**
   * Merges the fields and annotations into exactly the version read; null removes an annotation.
   *
   * @throws ConfigInvalid when the API server refuses the change
   */
  revise(
    environment: EphemeralEnvironment,
    spec: Partial<EnvironmentSpec>,
    auditId: string,
    annotations?: Readonly<Record<string, string | null>>,
  ): Promise<EphemeralEnvironment | "changed">;
  /** Deletes exactly the version read; see `OperatorEnvironments.remove`. */
  remove(environment: EphemeralEnvironment): Promise<"removing" | "changed">;
}

/** The API server refuses a deletion that the platform's own rules allow. */
export class RemovalRefused extends EnvironmentConflict {
  /** The API server's sentence: for operators, not for REST callers. */
  readonly why: string;

  constructor(why: string, options?: ErrorOptions) {
    super(
      "The cluster refuses to delete the environment: an administrator's admission policy, or a missing right",
      options,
    );
    this.why = why;
  }
}

/** Writer of an environment's operator-owned fields. */
export type EnvironmentStatusWriter = StatusWriter<EphemeralEnvironment, EnvironmentStatus>;
