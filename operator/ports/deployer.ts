import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { Component } from "../../crds/names.ts";
import type { ChartSource } from "../../crds/repository/repository.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { WatchedKind } from "../kit/cache/watched-kind.ts";
import type { WireObject } from "../kit/client/kinds.ts";
import type { KubeClient } from "../kit/client/kube-client.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { OwnedCaches } from "./caches.ts";
import type { Cluster, Owner, Removal } from "./cluster.ts";

/** Branch and resolved commit, by component. */
export type DeployedSources = {
  readonly [component in Component]?: { readonly branch: string; readonly commit: string };
};

/** Desired application of an environment. */
export interface DesiredApplication {
  readonly environment: Owner;
  readonly chart: ChartSource;
  /** Values of the chart, as an object: never text, so that no value can change the surrounding document. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Resolved source of every component, stored with the application. */
  readonly sources: DeployedSources;
  /** True when an autoscaler's number of pods wins over that of the chart. */
  readonly leavesReplicas: boolean;
}

/** The login at the private place of a chart. */
export interface ChartLogin {
  /** The credential's name, as `name@key`. */
  readonly source: string;
  /** Credential as `user:password`; absent: the deployer keeps what it was given of this credential for this place. */
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
  /** True while a failed sync to former values is about to be tried again. */
  readonly hasOutdatedRetries?: boolean;
  readonly failedHooks?: readonly SyncedObject[];
  /** True where the last sync could not change Jobs: their pod templates are immutable in Kubernetes. */
  readonly hasUnchangedJobs?: boolean;
  /** Objects, not all of many, that the deployer repairs again and again, because something else keeps changing them. */
  readonly keepsChanging?: readonly NamedObject[];
}

/**
 * Deploys a chart with values into an environment's namespace and keeps it so. Reads come from a watch. Writes throw
 * DeployerUnavailable when the deployer's objects can't be written; `ensure…` NameTaken when an object of the name does
 * not belong to this environment.
 */
export interface Deployer {
  /**
   * Confines the environment's application to its one namespace, its one chart and the kinds that it may make; before
   * any write of the application. Gives the deployer the login at the chart's place, for this environment alone;
   * without one, takes the former away.
   */
  ensureProject(environment: Owner, chart: ChartSource, login?: ChartLogin): Promise<void>;
  /**
   * Milliseconds since this process gave the deployer that credential (`name@key`) for that place; infinite when it
   * never did, or when the deployer may have lost it.
   */
  loginAgeMs(environment: Owner, chart: ChartSource, source: string): number;
  /** Creates or updates the application; `ensureProject` must come before. */
  ensure(desired: DesiredApplication): Promise<"unchanged" | "created" | "changed">;
  /** The application from the watch; `undefined` before it exists. */
  observe(desired: DesiredApplication): ObservedApplication | undefined;
  /**
   * Makes the deployer render the chart and sync again when due: for an application broken since `brokenSince`, called
   * in every reconcile. Pauses grow with the failure's age, from 15 seconds to 10 minutes, computed from the
   * application, so that no crash or second process retries more.
   *
   * @returns milliseconds until the next retry: the reconcile's requeue delay
   */
  retry(desired: DesiredApplication, brokenSince: Date): Promise<number>;
  /**
   * Deletes the ended Jobs with a TTL that the last sync could not change: the deployer makes them anew, and is asked
   * to sync once more where it has given up.
   *
   * @returns those with a TTL that have to end before
   */
  replaceJobs(desired: DesiredApplication): Promise<readonly NamedObject[]>;
  /** Ends the running sync, if any, with its awaited hooks. The deployer then syncs a newer desired state. */
  endSync(environment: Owner): Promise<void>;
  /** Sources of the existing application: after a crash before the status write they are stored nowhere else. */
  deployedSources(environment: Owner): DeployedSources;
  /** Deletes the environment's application with all objects, and ends a running sync; call again until `gone`. */
  remove(environment: Owner): Promise<Removal>;
  /**
   * Removes only the environment's application, despite its state and finalizers: its objects go with the namespace.
   * Call again until `gone`.
   */
  abandon(environment: Owner): Promise<Removal>;
  /** Deletes this environment's project and login, once the application is gone: it can't be deleted without them. */
  removeProject(environment: Owner): Promise<Removal>;
}

/** The deployer's API can't be used now. */
export class DeployerUnavailable extends Error {
  override readonly name = "DeployerUnavailable";
}

/**
 * True when the environment's GitOps tool leaves a platform change of a spec field (its path, such as `backend/branch`)
 * alone, although the manifest has it. False when uncertain.
 */
export type LeftFields = (environment: EphemeralEnvironment, field: string) => Promise<boolean>;

/** One message of the deployer about an application. */
export interface DeployerEntry {
  readonly at: Date;
  readonly level: "INFO" | "WARN" | "ERROR";
  /** Text for people, without control characters. */
  readonly message: string;
}

/**
 * Messages of the deployer about an environment's application; not its own logs, which mention others. Throws
 * ClusterUnavailable when the API server does not answer.
 */
export interface DeployerLog {
  /** Conditions, last operation and each resource's result, oldest first. Empty without an application. One read. */
  entries(environment: Owner): Promise<readonly DeployerEntry[]>;
}

/** Health of the deployer, seen through its objects. */
export interface DeployerHealth {
  /** Path of its collection of applications: the deployer is healthy when the API server answers it. */
  readonly path: string;
  applicationsSynced(): number;
}

/** The parts that a deployer works with. */
export interface DeployerContext {
  readonly cluster: Cluster;
  /** Reaches what a chart made, which is no object of the environment's own. */
  readonly client: Pick<KubeClient, "list" | "delete">;
  readonly clock: Clock;
}

/** One of the deployers that `settings.deployer.kind` chooses from: all that the platform needs of it. */
export interface DeployerTechnology {
  readonly kinds: readonly WatchedKind<WireObject>[];
  deployer(context: DeployerContext): Deployer;
  log(cluster: Pick<Cluster, "read">): DeployerLog;
  /** Fields that this technology leaves alone as the GitOps tool of environments. */
  leftFields(client: Pick<KubeClient, "find">): LeftFields;
  health(watched: OwnedCaches): DeployerHealth;
}
