import type {
  EnvironmentSpec,
  EnvironmentStatus,
  EphemeralEnvironment,
} from "../../crds/environment/ephemeral-environment.ts";
import type { DeletionCause } from "../../crds/environment/manifest.schema.ts";
import { EnvironmentConflict } from "../../crds/errors.ts";
import type { StatusWriter } from "./status-writer.ts";

/**
 * The environments as the controllers ask for them. The REST interface asks for more: `facade/environments.ts`.
 *
 * Reads come from this process's cache and never show an older version than a write this process answered.
 * Every method that talks to the Kubernetes API throws ClusterUnavailable when it can't be reached.
 */
export interface OperatorEnvironments {
  /** All of them, in no order; an array of its own that the caller may sort. Throws ClusterUnavailable before the first list. */
  list(): EphemeralEnvironment[];

  /**
   * How many environments the predicate holds for, by a fresh read of all of them: for a decision that must miss none.
   * Keeps nothing of what it reads.
   */
  countNow(isMeant: (environment: EphemeralEnvironment) => boolean): Promise<number>;

  /**
   * A fresh read of exactly this environment, with its `managedFields`; `undefined` when it is gone, although another may
   * have its name.
   */
  reread(environment: EphemeralEnvironment): Promise<EphemeralEnvironment | undefined>;

  /**
   * Asks for the deletion of exactly this environment (its UID); one that is already being deleted or gone is fine.
   * With `onlyThisVersion` the delete holds only if nothing changed since it was read: for deletions decided from state.
   * `cause` is noted on an environment that Git or a webhook may bring back, for its record.
   *
   * @returns "changed" when the version no longer holds: decide again
   * @throws EnvironmentConflict when it is protected
   * @throws RemovalRefused, a conflict too, when missing rights or an admission policy refuse it
   */
  remove(environment: EphemeralEnvironment, options?: Removing): Promise<"removing" | "changed">;
}

/** How a deletion is asked for. */
export interface Removing {
  readonly onlyThisVersion?: boolean;
  readonly cause?: DeletionCause;
  /** `spec.protectedUntil` is past, and is removed with a write before the deletion. */
  readonly liftsProtection?: boolean;
}

/**
 * What a decision about environments does: each method sends one write. Every method throws ClusterUnavailable when the
 * Kubernetes API can't be reached.
 */
export interface DecidedWrites {
  /** A fresh read; `undefined` when there is none of that name. */
  findNow(name: string): Promise<EphemeralEnvironment | undefined>;

  /**
   * Makes the resource, with these annotations; the API server is the lock on the name.
   *
   * @param auditId names the audit record of the decision, and is written on the resource
   * @returns "changed" when the name is taken: decide again
   * @throws ConfigInvalid when the API server refuses the manifest, CreationFailed when it refuses the platform
   */
  create(
    name: string,
    spec: EnvironmentSpec,
    auditId: string,
    annotations?: Readonly<Record<string, string>>,
  ): Promise<EphemeralEnvironment | "changed">;

  /**
   * Merges the fields into the spec of exactly the version that was read, and annotations into its annotations: null
   * removes one.
   *
   * @returns "changed" when the version no longer holds, or it is gone: decide again
   * @throws ConfigInvalid when the API server refuses the change
   */
  revise(
    environment: EphemeralEnvironment,
    spec: Partial<EnvironmentSpec>,
    auditId: string,
    annotations?: Readonly<Record<string, string | null>>,
  ): Promise<EphemeralEnvironment | "changed">;

  /** Deletes exactly the version that was read; see `OperatorEnvironments.remove`. */
  remove(environment: EphemeralEnvironment): Promise<"removing" | "changed">;
}

/** The API server refuses a deletion that none of the platform's own rules forbids. */
export class RemovalRefused extends EnvironmentConflict {
  /** The API server's own sentence: for operators, not for callers of the REST interface. */
  readonly why: string;

  constructor(why: string, options?: ErrorOptions) {
    super(
      "The cluster refuses to delete the environment: an administrator's admission policy, or a missing right",
      options,
    );
    this.why = why;
  }
}

/** Writes what only the operator writes of environments. */
export type EnvironmentStatusWriter = StatusWriter<EphemeralEnvironment, EnvironmentStatus>;
