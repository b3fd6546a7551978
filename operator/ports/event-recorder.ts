import type { Owner } from "./cluster.ts";

/** An entry for `kubectl describe`. */
export interface Event {
  readonly type: "Normal" | "Warning";
  /** CamelCase and stable, such as `OrphanFound`. */
  readonly reason: string;
  /** The platform's action or attempt, such as `Delete`. */
  readonly action: string;
  /** Text for people, without secret values. Cut after 1024 bytes. */
  readonly message: string;
}

/**
 * Records Kubernetes Events about environments and the platform itself: best effort, because the status has the vital
 * information. In a burst five a second are written, with their original time, and more of a long queue: none waits
 * longer than five minutes. Beyond 10,000 they are lost.
 */
export interface EventRecorder {
  /**
   * Returns at once and never throws: a failure is logged. Equal events within an hour are one, with a count.
   *
   * @param environment subject of the event (default: the platform's own ServiceAccount). Per environment twenty are
   * recorded at once, then one a minute.
   */
  publish(event: Event, environment?: Owner): void;
}
