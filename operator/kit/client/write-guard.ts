/** What allows a client to work, and how it ends: a leader's term, for one. */
export interface WriteGuard {
  /** Ends every call when it aborts, also those in flight; calls that begin later fail with reason `Aborted`. */
  readonly signal: AbortSignal;
  /** Asked just before a write is sent: false fails it with reason `Aborted`, although `signal` has not aborted yet. */
  readonly holds: () => boolean;
}
