import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Component } from "../../crds/names.ts";
import type { ChartSource } from "../../crds/repository/repository.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { Owner, Removal } from "./cluster.ts";

/** Branch and resolved commit, by component. */
export type Sources = { readonly [component in Component]?: { readonly branch: string; readonly commit: string } };

/** Desired application of an environment. */
export interface WantedApplication {
  readonly environment: Owner;
  readonly chart: ChartSource;
  /** Values of the chart, as an object: never text, so that no value can change the surrounding document. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Resolved source of every component, stored with the application. */
  readonly sources: Sources;
  /** True when an autoscaler's number of pods wins over that of the chart. */
  readonly leavesReplicas: boolean;
}

/** The login at the private place of a chart. */
export interface ChartLogin {
  /** The credential's name, as `name@key`. */
  readonly source: string;
  /** As `user:password`; absent: the deployer keeps what it was given of this credential for this place. */
  readonly credential?: Sensitive;
  /** True when the deployer's copy may be outdated: its age is unknown from now on. */
  readonly mayBeOutdated?: boolean;
}

/**
 * `ChartInvalid`: the chart gives no manifests; `SyncFailed`: the cluster refused some; `QuotaExceeded`: for lack of
 * quota; `QuotaUncounted`: a new quota is not counted yet; `DeployerUnavailable`: a part of the deployer is missing;
 * `DeploymentFailed`: all are there but don't become healthy.
 */
export type DeploymentProblem =
  | "ChartInvalid"
  | "SyncFailed"
  | "QuotaExceeded"
  | "QuotaUncounted"
  | "DeployerUnavailable"
  | "DeploymentFailed";

/** An object of a chart. */
export interface NamedObject {
  readonly kind: string;
  readonly name: string;
}

/** An object of a sync. */
export interface SyncedObject extends NamedObject {
  /** Phase of the sync, in the deployer's word, for a hook; absent otherwise. */
  readonly hook?: string;
}

/** A running sync that waits for its objects. */
export interface WaitingSync {
  /** Start of the sync, by the deployer's clock. */
  readonly since: Date;
  /** Awaited objects: running hooks, else unhealthy objects; truncated, and empty where the deployer does not say. */
  readonly objects: readonly SyncedObject[];
  /** True when a newer desired state waits for this sync's end. */
  readonly isOutdated: boolean;
}

/** The deployer's view of an application. */
export interface ObservedApplication {
  /**
   * `unseen`: not compared yet with the desired state; `waiting`: being synced; `progressing`: synced, pods not healthy
   * yet; `healthy`: the desired values and revision run; `broken`: can't recover by itself.
   */
  readonly state: "unseen" | "waiting" | "progressing" | "healthy" | "broken";
  readonly problem?: DeploymentProblem;
  /** Start of the current health, by the deployer's clock, if known. */
  readonly since?: Date;
  /** Running revision of the chart; empty before the first sync. */
  readonly revision: string;
  /** Missing or wrong things, for people. */
  readonly message: string;
  /** Kinds that the chart makes, as far as the deployer knows. */
  readonly kinds?: readonly string[];
  /** Absent: no sync waits. */
  readonly waitingSync?: WaitingSync;
  readonly failedHooks?: readonly SyncedObject[];
  /** True where the last sync could not change Jobs: what their pods are made from can't be changed in Kubernetes. */
  readonly hasUnchangedJobs?: boolean;
  /** Objects that the deployer puts back again and again, because something else keeps changing or removing it; not all of many. */
  readonly keepsChanging?: readonly NamedObject[];
}

/**
 * Deploys a chart with values into an environment's namespace and keeps it so.
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
   * Milliseconds since this process gave the deployer that credential (`name@key`) for that place; infinite when it never did,
   * or when the deployer may have lost it.
   */
  loginAgeMs(environment: Owner, chart: ChartSource, source: string): number;

  /**
   * Creates or updates the application; `ensureProject` must come before.
   *
   * @throws NameTaken when an application of that name does not belong to this environment
   */
  ensure(wanted: WantedApplication): Promise<"unchanged" | "created" | "changed">;

  /** The application from the watch; `undefined` before it exists. */
  observe(wanted: WantedApplication): ObservedApplication | undefined;

  /**
   * Makes the deployer render the chart and sync again when due: for an application broken since `brokenSince`, called
   * in every reconcile. Pauses grow with the failure's age, from 15 seconds to 10 minutes, computed from the
   * application, so that no crash or second process retries more.
   *
   * @returns milliseconds until the next retry: the reconcile's requeue delay
   */
  retry(wanted: WantedApplication, brokenSince: Date): Promise<number>;

  /**
   * Deletes those of the Jobs that the last sync could not change that have ended and have a TTL, so that they may go: the deployer
   * makes them anew. Where it has given up, it is asked to sync once more.
   *
   * @returns those with a TTL that have to end before
   */
  replaceJobs(wanted: WantedApplication): Promise<readonly NamedObject[]>;

  /**
   * Ends the sync that runs, with the hooks that it waits for; nothing when none runs. The deployer then syncs what is wanted
   * now, if that is something else.
   */
  endSync(environment: Owner): Promise<void>;

  /** Sources of the existing application: after a crash before the status write they are stored nowhere else. */
  deployedSources(environment: Owner): Sources;

  /** Deletes the environment's application with all objects, and ends a running sync; call again until `gone`. */
  remove(environment: Owner): Promise<Removal>;

  /**
   * Removes only the environment's application, despite its state and finalizers: its objects go with the namespace.
   * Call again until `gone`.
   */
  abandon(environment: Owner): Promise<Removal>;

  /** Deletes the project with the login at the chart's place, if it is this environment's; only when the application is gone, which can't be deleted without it. */
  removeProject(environment: Owner): Promise<Removal>;
}

/** The deployer's API can't be used now. */
export class DeployerUnavailable extends Error {
  override readonly name = "DeployerUnavailable";
}

/**
 * True when the environment's GitOps tool leaves a platform change of a spec field alone, although the manifest has it.
 * False when uncertain.
 *
 * @param field path below the spec, such as `ttlHours` or `backend/branch`
 */
export type LeftFields = (environment: EphemeralEnvironment, field: string) => Promise<boolean>;
