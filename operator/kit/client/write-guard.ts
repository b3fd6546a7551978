/** Permission of a client to work, such as a leader's term. */
export interface WriteGuard {
  /** Aborts every call in flight; later calls fail with reason `Aborted`. */
  readonly signal: AbortSignal;
  /**
   * Called just before a write is sent: false fails it with reason `Aborted`, although `signal` has not aborted yet.
   */
  readonly holds: () => boolean;
}
