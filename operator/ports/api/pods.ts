import type { ComponentSelectors } from "../../../crds/environment/component-selectors.ts";
import type { Component } from "../../../crds/names.ts";
import type { Owner } from "../cluster.ts";
import type { NamedObject } from "../deployer.ts";

/** Owner of pods in an environment, as in its chart: a Deployment, not its ReplicaSet. */
export interface Workload extends NamedObject {
  /** `backend`, `frontend` or a backing service; absent: none of them. */
  readonly component?: string;
  /** Desired pods, for a Job the completions; absent for an unknown kind. */
  readonly desired?: number;
  /** Ready or completed pods. */
  readonly ready: number;
  /** Restarts of containers of its current pods. */
  readonly restarts: number;
  /** Images, as its pods name them. */
  readonly images: readonly string[];
  /** Problem and remedy, for users; absent without a known one. */
  readonly problem?: string;
}

/** Throws ClusterUnavailable when the API server does not answer. */
export interface Workloads {
  /**
   * All workloads, by component, kind and name; none before the namespace exists. One read of the pods, one per kind,
   * and one of the events where pods are missing.
   */
  list(environment: Owner, selectors: ComponentSelectors): Promise<readonly Workload[]>;
}

/** One line of a container. */
export interface LogLine {
  /** Time by the clock of its node: RFC 3339 in UTC with nine digits of a second, so that texts sort like moments. */
  readonly at: string;
  /** Text of at most 16 KiB, without control characters and secret values of the pods. */
  readonly text: string;
}

export interface FollowedLine extends LogLine {
  /** Moment to continue from: before the line's own while containers with other clocks may have older lines. */
  readonly position: string;
}

/** Target pods: of a component, with its selectors, or of one workload. */
export type LogTarget =
  | { readonly component: Component; readonly selectors: ComponentSelectors }
  | { readonly workload: NamedObject };

/** Selection of lines. */
export interface LogSelection {
  readonly lines: number;
  /** Greatest age, by the clock of their node; any by default. */
  readonly sinceSeconds?: number;
}

export interface FollowedSelection extends LogSelection {
  /**
   * Continues after this position instead: with the last 1000 missed lines at most. With several containers, lines of
   * 10 seconds may repeat; none is lost unless clocks differ by more.
   */
  readonly after?: string;
  readonly signal: AbortSignal;
}

/**
 * Log lines of a component's or workload's pods, with init containers and a restarted container's previous run.
 *
 * An unreadable container, or one whose secrets can't be masked, is one line that says so. Both methods throw
 * ClusterUnavailable when the API server does not answer.
 */
export interface PodLogs {
  /** The newest lines, oldest first; at most 1 MiB. Empty without pods. */
  tail(environment: Owner, target: LogTarget, selection: LogSelection): Promise<readonly LogLine[]>;
  /**
   * The same, then new lines, also of later pods and containers. Lines of one moment are in order; an empty batch comes
   * every few seconds without lines. Reads only on demand.
   */
  follow(environment: Owner, target: LogTarget, selection: FollowedSelection): AsyncIterable<readonly FollowedLine[]>;
}
