import type { EnvironmentSpec, EphemeralEnvironment, Phase } from "../../../crds/environment/ephemeral-environment.ts";
import type { IdempotencyRecord } from "../../../crds/environment/idempotency-record.ts";
import type { OperatorEnvironments } from "../environments.ts";

/** A change of the TTL. */
export interface Extension {
  readonly ttlHours: number;
  /** The reason, kept on the resource; at most 500 characters. */
  readonly note?: string;
  /** Only while it expires at this moment: by another expiry, what was decided on no longer holds. */
  readonly onlyFrom?: Date;
}

/** What may be changed of a spec at any time; what is left out stays as it is. */
export interface EnvironmentUpdate extends Pick<EnvironmentSpec, "protected" | "suspended"> {
  /** `spec.protectedUntil`; null removes it. */
  readonly protectedUntil?: string | null;
  readonly backend?: SourceUpdate;
  /** Only of an environment that has a frontend. */
  readonly frontend?: SourceUpdate;
  /** Only of an environment that has a config set. */
  readonly configSet?: { readonly version: number };
}

/** What a component is to be deployed from. */
export interface SourceUpdate {
  readonly branch: string;
  /** The full SHA; null: the spec names none. */
  readonly commit: string | null;
}

/** The fields that decide who may see an environment. */
export type EnvironmentRights = Pick<EnvironmentSpec, "owner" | "access">;

/** A selection of environments; what is left out restricts nothing. */
export interface EnvironmentQuery {
  /** Whether the caller may see an environment with these rights. */
  readonly isVisible: (rights: EnvironmentRights) => boolean;
  /** As users are shown it, see `shownPhase`. */
  readonly phase?: Phase;
  /** Part of the name, literally. */
  readonly search?: string;
  /** Created at this moment or later, in milliseconds since 1970. */
  readonly createdFromMs?: number;
  /** Created before this moment, in milliseconds since 1970. */
  readonly createdBeforeMs?: number;
  /** How many of the matching environments are skipped. */
  readonly offset?: number;
  /** How many are answered at most. */
  readonly limit?: number;
}

/** Part of a list. */
export interface EnvironmentPage {
  readonly items: readonly EphemeralEnvironment[];
  /** How many match, on this page or not. */
  readonly total: number;
}

/** An environment that was made, changed or went. */
export interface EnvironmentChange {
  readonly id: string;
  readonly name: string;
  /** `undefined` when it is gone. */
  readonly current: EphemeralEnvironment | undefined;
  /** As it was before; `undefined` when it was not there. */
  readonly previous: EphemeralEnvironment | undefined;
}

/** The answer of the operator to a request for a reconcile. */
export interface RequestedReconcile {
  /** `pending`: requested and not answered yet; `gone`: the environment no longer exists. */
  readonly state: "answered" | "pending" | "gone";
  /** As the reconcile left it, else as it was seen last. */
  readonly environment: EphemeralEnvironment;
}

/** The environments as their users see and change them. Beside them: what the controllers ask, too. */
export interface Environments extends OperatorEnvironments {
  /** By id or by name. A miss by id asks the API server once more (coalesced), because another replica may have made it. */
  find(idOrName: string): Promise<EphemeralEnvironment | undefined>;

  /**
   * The selected part of the matching environments: the newest first, those of the same second by name. Called often, with
   * ten thousand environments. Throws ClusterUnavailable before the first list.
   */
  page(query: EnvironmentQuery): EnvironmentPage;

  /**
   * The changes from this call on, until the signal aborts. Each batch has an environment once, in its last state: a slow
   * reader misses states in between, never an environment.
   *
   * @throws ClusterUnavailable before all environments have been read once
   */
  changes(signal: AbortSignal): AsyncGenerator<readonly EnvironmentChange[], undefined>;

  /** What a request with this idempotency key made, as far as this process knows; see `IdempotencyRecord`. */
  madeWith(key: string): EphemeralEnvironment | undefined;

  /**
   * Makes the resource; the API server is the lock on the name. Where an earlier request with the key of `record` made the
   * environment of that name, through any replica, the answer is that environment.
   *
   * @throws NameExists when the name is taken, also by one that is still being deleted
   * @throws ConfigInvalid when the API server refuses the manifest
   */
  create(name: string, spec: EnvironmentSpec, record?: IdempotencyRecord): Promise<EphemeralEnvironment>;

  /**
   * Moves the TTL and nothing else, on the version that was read.
   *
   * @throws EnvironmentNotFound when it is gone, EnvironmentConflict when it is being deleted, no longer expires when it has
   *   to, or when the GitOps tool that keeps it as Git has it would take the change back
   */
  extend(environment: EphemeralEnvironment, extension: Extension): Promise<EphemeralEnvironment>;

  /**
   * Merges the update into the spec and changes nothing else, on the version that was read.
   *
   * @throws EnvironmentNotFound when it is gone, EnvironmentConflict when it is being deleted, or when the GitOps tool that
   * keeps it as Git has it would take the change back
   */
  update(environment: EphemeralEnvironment, update: EnvironmentUpdate): Promise<EphemeralEnvironment>;

  /**
   * Requests a reconcile of the environment, also of one that is being deleted, and waits for its answer for `withinMs` at
   * most. A reconcile that was requested less than five seconds ago, through any replica, also answers this request.
   *
   * @throws EnvironmentNotFound when it is gone
   */
  reconcile(environment: EphemeralEnvironment, options: { readonly withinMs: number }): Promise<RequestedReconcile>;
}
