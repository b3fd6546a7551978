/** A host's rate limit. */
export interface CallBudget {
  readonly limit: number;
  readonly remaining: number;
  /** Time at which `remaining` is `limit` again. */
  readonly resetsAt: Date;
}

/** Counts of a host's API calls since the start of this process. */
export interface HostCallCounts {
  /** Requests, each attempt counted. */
  readonly sent: number;
  /**
   * Responses by class of status: `2xx`, `3xx`, `4xx`, `5xx`; `304`, which costs nothing of GitHub's limit; `none`
   * without a response.
   */
  readonly answers: Readonly<Record<string, number>>;
  /** Responses that stopped calls for a while by rate limiting. */
  readonly limited: number;
  /** Least value seen in this window; `undefined` for a host without limits, such as Gitea. */
  readonly budget: CallBudget | undefined;
}

/** Calls to repository hosts, for metrics. */
export interface HostCalls {
  /** Current counts, by the host's id in the settings. A host without a token is never called, and absent. */
  snapshot(): Readonly<Record<string, HostCallCounts>>;
}
