/** An answered or aborted request. */
export interface AnsweredRequest {
  readonly method: string;
  /** Path template of the route, below the version; `undefined` without a route. */
  readonly route: string | undefined;
  /** HTTP status, or 499 when the connection ended first. */
  readonly status: number;
  readonly durationMs: number;
  /** True for a stream, which lasts as long as its reader wants. */
  readonly isStream: boolean;
}

/** Request metrics of the REST interface. */
export interface RequestMetrics {
  begun(): void;
  /** Called once per begun request. */
  ended(request: AnsweredRequest): void;
}
