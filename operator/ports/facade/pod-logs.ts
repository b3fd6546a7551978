import type { Component } from "../../../crds/names.ts";
import type { ComponentSelectors } from "../../../crds/repository/component-selectors.ts";
import type { Owner } from "../cluster.ts";
import type { NamedObject } from "../deployer.ts";

/** One line that a container wrote. */
export interface LogLine {
  /**
   * When, by the clock of its node: RFC 3339 in UTC with nine digits of a second, so that texts sort as moments do.
   */
  readonly at: string;
  /** At most 16 KiB, without control characters and without any value of the Secrets that the pods see. */
  readonly text: string;
}

/** A line that a follower is sent. */
export interface FollowedLine extends LogLine {
  /** Where to continue after this line, as a moment; earlier than the line's own while containers with other clocks may have older lines. */
  readonly position: string;
}

/** Whose pods: of a component, with what says which pods those are, or of one object that has made them. */
export type LogTarget =
  | { readonly component: Component; readonly selectors: ComponentSelectors }
  | { readonly workload: NamedObject };

/** Which lines are wanted. */
export interface LogSelection {
  /** The last so many. */
  readonly lines: number;
  /** Not older than so many seconds, by the clock of their node; of any age when left out. */
  readonly sinceSeconds?: number;
}

export interface FollowedSelection extends LogSelection {
  /**
   * Goes on after this position instead: with what was written meanwhile, the last 1000 lines at most. Where there are
   * several containers, lines of 10 seconds may be told again; none is left out unless clocks differ by more.
   */
  readonly after?: string;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/**
 * What pods of an environment write, those of a component or of a workload: all of them, all their containers, also those that prepare a pod,
 * and of a container that was started again the run before, too.
 *
 * A container that can't be read now, or whose secrets can't be masked, is one line that says so. Both throw
 * ClusterUnavailable when the API server does not answer.
 */
export interface PodLogs {
  /** The newest lines, the oldest of them first; at most 1 MiB. Empty while there are no pods. */
  tail(environment: Owner, target: LogTarget, selection: LogSelection): Promise<readonly LogLine[]>;

  /**
   * The same, and then what comes, also from pods and containers that are started later. Lines that came within a moment
   * are in order; an empty batch comes every few seconds while there are none. Nothing more is read than is taken.
   */
  follow(environment: Owner, target: LogTarget, selection: FollowedSelection): AsyncIterable<readonly FollowedLine[]>;
}
