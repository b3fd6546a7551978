import type { EnvironmentSpec, EphemeralEnvironment, Phase } from "../../../crds/environment/ephemeral-environment.ts";
import type { IdempotencyRecord } from "../../../crds/environment/idempotency-record.ts";
import type { SleepStatus, SleepWish } from "../../../crds/sleep.schema.ts";
import type { OperatorEnvironments } from "../environments.ts";

/** A change of the TTL. */
export interface Extension {
  readonly ttlHours: number;
  /** Reason, kept on the resource; at most 500 characters. */
  readonly note?: string;
  /** Precondition: the current expiry, on which the decision is based. */
  readonly onlyFrom?: Date;
}

/** Updatable fields of a spec; absent ones stay. */
export interface EnvironmentUpdate extends Pick<EnvironmentSpec, "protected" | "suspended"> {
  readonly protectedUntil?: string | null;
  /** null removes a field. */
  readonly sleep?: { readonly [Field in keyof SleepWish]?: SleepWish[Field] | null };
  readonly backend?: SourceUpdate;
  /** Only for an environment with a frontend. */
  readonly frontend?: SourceUpdate;
  /** Another number makes the database anew. */
  readonly database?: { readonly provision: true; readonly generation: number };
  /** Only for an environment with a config set. */
  readonly configSet?: { readonly version: number };
}

/** Source of a component. */
export interface SourceUpdate {
  readonly branch: string;
  /** Full SHA; null: none in the spec. */
  readonly commit: string | null;
}

/** Fields that decide the visibility of an environment. */
export type EnvironmentRights = Pick<EnvironmentSpec, "owner" | "access">;

/** Filter of environments; absent fields restrict nothing. */
export interface EnvironmentQuery {
  /** True when the caller may see an environment with these rights. */
  readonly isVisible: (rights: EnvironmentRights) => boolean;
  /** Phase as shown to users, see `shownPhase`. */
  readonly phase?: Phase;
  /** State as shown to users, see `sleepState`. */
  readonly sleep?: SleepStatus["state"];
  /** Literal part of the name. */
  readonly search?: string;
  /** Inclusive, in milliseconds since 1970. */
  readonly createdFromMs?: number;
  /** Exclusive, in milliseconds since 1970. */
  readonly createdBeforeMs?: number;
  readonly offset?: number;
  readonly limit?: number;
}

export interface EnvironmentPage {
  readonly items: readonly EphemeralEnvironment[];
  /** Count of matches on all pages. */
  readonly total: number;
}

/** A created, changed or deleted environment. */
export interface EnvironmentChange {
  readonly id: string;
  readonly name: string;
  /** `undefined` after its deletion. */
  readonly current: EphemeralEnvironment | undefined;
  /** Previous state; `undefined` before its creation. */
  readonly previous: EphemeralEnvironment | undefined;
}

/** The operator's answer to a requested reconcile. */
export interface RequestedReconcile {
  /** `pending`: not answered yet; `gone`: the environment no longer exists. */
  readonly state: "answered" | "pending" | "gone";
  /** State after the reconcile, else the last known. */
  readonly environment: EphemeralEnvironment;
}

/**
 * Environments for users, with the controllers' methods. Writes about an environment that is gone throw
 * EnvironmentNotFound.
 */
export interface Environments extends OperatorEnvironments {
  /**
   * Finds by id or name. An unknown id asks the API server once more (coalesced), because another replica may have
   * created it.
   */
  find(idOrName: string): Promise<EphemeralEnvironment | undefined>;
  /**
   * The selected part of the matches: newest first, by name within a second. Called often, with ten thousand
   * environments. Throws ClusterUnavailable before the first list.
   */
  page(query: EnvironmentQuery): EnvironmentPage;
  /**
   * Changes from this call on, until the signal aborts. Each batch has an environment once, in its last state: a slow
   * reader misses intermediate states, never an environment. Throws ClusterUnavailable before the first list.
   */
  changes(signal: AbortSignal): AsyncGenerator<readonly EnvironmentChange[], undefined>;
  /** The environment created with this idempotency key, as far as this process knows; see `IdempotencyRecord`. */
  madeWith(key: string): EphemeralEnvironment | undefined;
  /**
   * Creates the resource; the API server is the lock on the name. An environment of that name from an earlier request
   * with `record`'s key, through any replica, is answered instead.
   *
   * @throws NameExists when the name is taken, also by a terminating one
   * @throws ConfigInvalid when the API server refuses the manifest
   */
  create(name: string, spec: EnvironmentSpec, record?: IdempotencyRecord): Promise<EphemeralEnvironment>;
  /**
   * Moves only the TTL, on the version read.
   *
   * @throws EnvironmentConflict when it is terminating, no longer expires when it has to, or its GitOps tool would
   * revert the change
   */
  extend(environment: EphemeralEnvironment, extension: Extension): Promise<EphemeralEnvironment>;
  /**
   * Merges the update into the spec, on the version read. `suspended: false` also wakes what its schedule, or idleness,
   * has asleep.
   *
   * @throws EnvironmentConflict when it is terminating, or its GitOps tool would revert the change
   */
  update(environment: EphemeralEnvironment, update: EnvironmentUpdate): Promise<EphemeralEnvironment>;
  /**
   * Records that a person looks at the environment, which keeps it awake for a while; once in four minutes, through any
   * replica. Fine when it is gone.
   */
  recordActivity(environment: EphemeralEnvironment): Promise<void>;
  /**
   * Requests a reconcile of the environment, terminating or not, and waits at most `withinMs`. Requests within five
   * seconds, through any replica, share one reconcile.
   */
  reconcile(environment: EphemeralEnvironment, options: { readonly withinMs: number }): Promise<RequestedReconcile>;
}
