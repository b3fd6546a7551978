/** A request that was answered or cut off. */
export interface AnsweredRequest {
  readonly method: string;
  /** The path of its route with its parameters' names, below the version; `undefined` where no route fits. */
  readonly route: string | undefined;
  /** The status, or 499 when the connection ended before the answer. */
  readonly status: number;
  readonly durationMs: number;
  /** Whether it was a stream, which lasts as long as its reader wants. */
  readonly isStream: boolean;
}

/** Where the REST interface counts its requests. */
export interface RequestMetrics {
  begun(): void;
  /** Once for each that was begun. */
  ended(request: AnsweredRequest): void;
}
