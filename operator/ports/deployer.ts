import type { Component } from "../../crds/names.ts";
import type { ChartSource } from "../../crds/repository/repository.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Owner, Removal } from "./cluster.ts";

/** Branch and settled commit, by component. */
export type Sources = { readonly [component in Component]?: { readonly branch: string; readonly commit: string } };

/** The application that an environment should have. */
export interface WantedApplication {
  readonly environment: Owner;
  readonly chart: ChartSource;
  /** The chart's values, as an object: never text, so that no value can change the document around it. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The settled source of every component, kept beside the application. */
  readonly sources: Sources;
  /** Whether a number of pods that an autoscaler has set stays, although the chart says another. */
  readonly leavesReplicas: boolean;
}

/** The login at the private place of a chart. */
export interface ChartLogin {
  /** Which credential it is, as `name@key`. */
  readonly source: string;
  /** As `user:password`; absent: the deployer keeps what it was given of this credential for this place. */
  readonly credential?: Sensitive;
  /** Whether what it keeps may be outdated: its age is unknown from now on. */
  readonly mayBeOutdated?: boolean;
}

/**
 * `ChartInvalid`: the chart gives no manifests; `SyncFailed`: the cluster took not all of them; `QuotaExceeded`: for
 * lack of quota; `QuotaUncounted`: because it has not counted a new quota yet; `DeployerUnavailable`: the deployer itself
 * lacks a part; `DeploymentFailed`: all of them are there, and don't get healthy.
 */
export type DeploymentProblem =
  | "ChartInvalid"
  | "SyncFailed"
  | "QuotaExceeded"
  | "QuotaUncounted"
  | "DeployerUnavailable"
  | "DeploymentFailed";

/** An object that a chart makes. */
export interface NamedObject {
  readonly kind: string;
  readonly name: string;
}

/** An object of a sync. */
export interface SyncedObject extends NamedObject {
  /** The phase of the sync that it is a hook of, in the deployer's word; absent: it is no hook. */
  readonly hook?: string;
}

/** A sync that runs and has to wait for what it made. */
export interface WaitingSync {
  /** When the sync began, by the deployer's clock. */
  readonly since: Date;
  /** What it waits for: its running hooks, else what is not healthy; not all of many, and empty where the deployer does not say. */
  readonly objects: readonly SyncedObject[];
  /** Whether something newer is wanted by now, which can't be synced before this has ended. */
  readonly isOutdated: boolean;
}

/** What the deployer says of an application now. */
export interface ObservedApplication {
  /**
   * `unseen`: not compared with what is wanted yet; `waiting`: being synced; `progressing`: synced, pods not healthy
   * yet; `healthy`: the wanted values and revision run; `broken`: it can't get there by itself.
   */
  readonly state: "unseen" | "waiting" | "progressing" | "healthy" | "broken";
  /** What is broken. */
  readonly problem?: DeploymentProblem;
  /** Since when it is as healthy or unhealthy as it is, by the deployer's clock, where that says so. */
  readonly since?: Date;
  /** The revision of the chart that runs; empty before the first sync. */
  readonly revision: string;
  /** What the deployer says is missing or wrong, for people. */
  readonly message: string;
  /** The kinds that the chart makes, as far as the deployer knows them. */
  readonly kinds?: readonly string[];
  /** The sync that waits for something; absent: none does. */
  readonly waitingSync?: WaitingSync;
  /** The hooks that failed; only with the problem `SyncFailed`. */
  readonly failedHooks?: readonly SyncedObject[];
  /** What the deployer puts back again and again, because something else keeps changing or removing it; not all of many. */
  readonly keepsChanging?: readonly NamedObject[];
}

/**
 * Brings a chart with values into an environment's namespace and keeps it so.
 *
 * Reads come from a watch; writes throw DeployerUnavailable when the deployer's objects can't be written.
 */
export interface Deployer {
  /**
   * Confines the environment's application to its one namespace, its one chart and the kinds that it may make: before the
   * application is made or changed. Gives the deployer the login at the chart's place, for this environment alone; without one,
   * takes away what it was given before.
   *
   * @throws NameTaken when a project of that name does not belong to this environment
   */
  ensureProject(environment: Owner, chart: ChartSource, login?: ChartLogin): Promise<void>;

  /**
   * How long ago this process gave the deployer that credential (`name@key`) for that place, in milliseconds; infinite when it
   * never did, or when it may be gone since.
   */
  loginAgeMs(environment: Owner, chart: ChartSource, source: string): number;

  /**
   * Makes or changes the application so that it is as wanted; `ensureProject` must have confined it before.
   *
   * @throws NameTaken when an application of that name does not belong to this environment
   */
  ensure(wanted: WantedApplication): Promise<"unchanged" | "created" | "changed">;

  /** The application as it was observed last; `undefined` before it exists. */
  observe(wanted: WantedApplication): ObservedApplication | undefined;

  /**
   * Has the deployer render the chart and sync once more, when the next retry is due: for an application that is broken
   * since `brokenSince`, to be called in every reconcile. The pauses grow with the age of the failure,
   * from 15 seconds to 10 minutes, and are counted from what the application itself stores: neither a crash nor a second
   * process retries more often.
   *
   * @returns milliseconds until the next retry is due: what the reconcile requeues after
   */
  retry(wanted: WantedApplication, brokenSince: Date): Promise<number>;

  /**
   * Ends the sync that runs, with the hooks that it waits for; nothing when none runs. The deployer then syncs what is wanted
   * now, if that is something else.
   */
  endSync(environment: Owner): Promise<void>;

  /** The sources that the existing application was made with: after a crash before the status write they are stored nowhere else. */
  deployedSources(environment: Owner): Sources;

  /** Deletes the application with all it made, if it is this environment's; ends a sync that runs; call again until `gone`. */
  remove(environment: Owner): Promise<Removal>;

  /**
   * Removes the application alone, whatever it is doing and whoever holds it, if it is this environment's: what it made is left
   * to the deletion of the namespace. Call again until `gone`.
   */
  abandon(environment: Owner): Promise<Removal>;

  /** Deletes the project with the login at the chart's place, if it is this environment's; only when the application is gone, which can't be deleted without it. */
  removeProject(environment: Owner): Promise<Removal>;
}

/** The deployer's API can't be used now. */
export class DeployerUnavailable extends Error {
  override readonly name = "DeployerUnavailable";
}
