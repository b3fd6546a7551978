import type { Owner } from "./cluster.ts";

/** Something that people should see with `kubectl describe`. */
export interface Event {
  readonly type: "Normal" | "Warning";
  /** What happened: CamelCase and stable, such as `OrphanFound`. */
  readonly reason: string;
  /** What the platform did, or tried to do, when it happened, such as `Delete`. */
  readonly action: string;
  /** For people; no values of secrets. Cut after 1024 bytes. */
  readonly message: string;
}

/**
 * Records Kubernetes Events about environments, and about the platform itself.
 *
 * Best effort: events are lost with the process, with a failure, and when there are too many. In a burst ten a
 * second are written, and the others after it, with the time of what happened. What must be known is in the status.
 */
export interface EventRecorder {
  /**
   * Returns at once and never throws: a failure is logged. The same event within an hour is recorded once, with a count.
   *
   * @param environment what the event is about; without it, the platform's own ServiceAccount. Of one environment twenty
   * are recorded at once, then one a minute.
   */
  publish(event: Event, environment?: Owner): void;
}
