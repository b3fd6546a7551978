/** Something that the platform's operators should see. */
export interface Event {
  readonly type: "Normal" | "Warning";
  /** CamelCase and stable, such as `OrphanFound`. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Records Kubernetes Events about the platform itself. What concerns one environment belongs into its conditions.
 */
export interface EventRecorder {
  /** Returns at once and never throws: a failure is logged. The same event within an hour is recorded once. */
  publish(event: Event): void;
}
