import type {
  EnvironmentSpec,
  EnvironmentStatus,
  EphemeralEnvironment,
  Phase,
} from "../../crds/environment/ephemeral-environment.ts";
import type { IdempotencyRecord } from "../../crds/environment/idempotency-record.ts";
import { EnvironmentConflict } from "../../crds/errors.ts";
import type { StatusWriter } from "./status-writer.ts";

/** What a TTL change carries. */
export interface Extension {
  readonly ttlHours: number;
  /** Why, kept on the resource; at most 500 characters. */
  readonly note?: string;
}

/** What may be switched on and off at any time; what is left out stays as it is. */
export interface Switches {
  readonly protected?: boolean;
  readonly suspended?: boolean;
}

/** What decides who may see an environment. */
export type EnvironmentRights = Pick<EnvironmentSpec, "owner" | "access">;

/** Which environments are asked for; what is left out restricts nothing. */
export interface EnvironmentQuery {
  /** Whether they may be shown. */
  readonly isVisible: (rights: EnvironmentRights) => boolean;
  /** As users are shown it, see `shownPhase`. */
  readonly phase?: Phase;
  /** Part of the name, literally. */
  readonly search?: string;
  /** Created at this moment or later, in milliseconds since 1970. */
  readonly createdFromMs?: number;
  /** Created before this moment, in milliseconds since 1970. */
  readonly createdBeforeMs?: number;
  /** Which part of those that match is wanted: how many are left out before it, and how many are in it at most. */
  readonly offset?: number;
  readonly limit?: number;
}

/** Part of a list. */
export interface EnvironmentPage {
  readonly items: readonly EphemeralEnvironment[];
  /** How many match, on this page or not. */
  readonly total: number;
}

/** What came of asking the operator for a pass. */
export interface RequestedReconcile {
  /** `pending`: asked for and not answered yet; `gone`: nothing is left that a pass could be about. */
  readonly state: "answered" | "pending" | "gone";
  /** As the pass left it, else as it was seen last. */
  readonly environment: EphemeralEnvironment;
}

/**
 * The environments as their users see and change them.
 *
 * Reads come from this process's cache and never show an older version than a write this process answered.
 * Every method that talks to the Kubernetes API throws ClusterUnavailable when it can't be reached.
 */
export interface Environments {
  /** By id or by name. A miss by id asks the API server once more (coalesced), because another replica may have made it. */
  find(idOrName: string): Promise<EphemeralEnvironment | undefined>;

  /** All of them, in no order; an array of its own that the caller may sort. Throws ClusterUnavailable before the first list. */
  list(): EphemeralEnvironment[];

  /**
   * Of those that match, the newest first and those of the same second by name, the wanted part. Asked often, of ten
   * thousand environments. Throws ClusterUnavailable before the first list.
   */
  page(query: EnvironmentQuery): EnvironmentPage;

  /**
   * How many of them this holds of, as the API server has them now: for a decision that must miss none. Reads all, and
   * keeps nothing.
   */
  countNow(isMeant: (environment: EphemeralEnvironment) => boolean): Promise<number>;

  /** What a request with this key made, as far as this process knows; see `CreationMark`. */
  madeWith(key: string): EphemeralEnvironment | undefined;

  /**
   * Makes the resource; the API server is the lock on the name. Where an earlier request with the key of `mark` made the
   * environment of that name, through whichever replica, the answer is that environment.
   *
   * @throws NameExists when the name is taken, also by one that is still being deleted
   * @throws ConfigInvalid when the API server refuses the manifest
   */
  create(name: string, spec: EnvironmentSpec, mark?: IdempotencyRecord): Promise<EphemeralEnvironment>;

  /**
   * The environment as the API server has it now, for a decision that must be taken again; `undefined` when it is gone,
   * although its name may live on.
   */
  reread(environment: EphemeralEnvironment): Promise<EphemeralEnvironment | undefined>;

  /**
   * Moves the TTL and nothing else, on the version that was read.
   *
   * @throws EnvironmentNotFound when it is gone, EnvironmentConflict when it is being deleted
   */
  extend(environment: EphemeralEnvironment, extension: Extension): Promise<EphemeralEnvironment>;

  /**
   * Protects or suspends, or takes that back, and changes nothing else, on the version that was read.
   *
   * @throws EnvironmentNotFound when it is gone, EnvironmentConflict when it is being deleted
   */
  setSwitches(environment: EphemeralEnvironment, switches: Switches): Promise<EphemeralEnvironment>;

  /**
   * Asks the operator for a pass over the environment, also over one that is being deleted, and waits for its answer for
   * `withinMs` at most. A pass that was asked for less than five seconds ago, through whichever replica, serves whoever
   * asks again.
   *
   * @throws EnvironmentNotFound when it is gone
   */
  reconcile(environment: EphemeralEnvironment, options: { readonly withinMs: number }): Promise<RequestedReconcile>;

  /**
   * Asks for the deletion of exactly this environment (its UID); one that is already being deleted or gone is fine.
   * With `onlyThisVersion` the delete holds only if nothing changed since it was read: for deletions decided from state.
   *
   * @returns "changed" when the version no longer holds: decide again
   * @throws EnvironmentConflict when it is protected
   * @throws RemovalRefused, a conflict too, when rights or somebody's admission policy refuse it
   */
  remove(environment: EphemeralEnvironment, options?: { onlyThisVersion?: boolean }): Promise<"removing" | "changed">;
}

/** The API server refuses a deletion that nothing of ours forbids. */
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

/** What the operator alone writes of environments. */
export type EnvironmentStatusWriter = StatusWriter<EphemeralEnvironment, EnvironmentStatus>;
