/** What a host lets us call until a time. */
export interface CallBudget {
  readonly limit: number;
  readonly remaining: number;
  /** When `remaining` is `limit` again. */
  readonly resetsAt: Date;
}

/** How often the API of a host was called since the start of this process, and how it answered. */
export interface HostCallCounts {
  /** Requests, each attempt counted. */
  readonly sent: number;
  /** By class of status: `2xx`, `3xx`, `4xx`, `5xx`; `304`, which GitHub takes from no budget; `none` without an answer. */
  readonly answers: Readonly<Record<string, number>>;
  /** Answers after which nothing was sent for a while, because the host wanted so. */
  readonly limited: number;
  /** As the least of its answers said in this window; `undefined` for a host that says none, such as Gitea. */
  readonly budget: CallBudget | undefined;
}

/** The calls to the hosts of repositories, for metrics. */
export interface HostCalls {
  /** Those of now, by the host's id in the settings. A host without a token is never called, and not there. */
  snapshot(): Readonly<Record<string, HostCallCounts>>;
}
