/** Something that those who run the platform should see. */
export interface Event {
  readonly type: "Normal" | "Warning";
  /** CamelCase and stable, such as `OrphanFound`. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Tells those who run the platform what happened, where kubectl shows it. For what is no environment's own affair:
 * that belongs into its conditions.
 */
export interface EventRecorder {
  /** Returns at once and never throws: what can't be told is in the log anyway. The same notice within an hour is one. */
  publish(notice: Event): void;
}
