/** What a span says: names, counts, statuses. Never a secret value, a token, a body, a query string or a person. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** What a span stands for while it lasts. */
export interface Span {
  /** Adds to what it says; what is `undefined` is left out. */
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /**
   * What it stands for failed, although the work does not throw.
   *
   * @param reason a word, such as `timeout` or a status; never a message, which may quote anything
   */
  failed(reason: string): void;
}

/**
 * How a span stands to others. A `request` continues the trace of its caller, if that has one. A `reconcile` begins a
 * trace, with a link to what caused it. A `call` belongs to the span that it is made in, and makes none outside of one that
 * lasts.
 */
export type SpanOptions =
  | { readonly kind: "request"; readonly attributes?: SpanAttributes; readonly parent?: string | undefined }
  | { readonly kind: "reconcile"; readonly attributes?: SpanAttributes; readonly link?: string | undefined }
  | { readonly kind: "call"; readonly attributes?: SpanAttributes };

/** Follows work across processes: https://opentelemetry.io/docs/concepts/signals/traces/ */
export interface Tracing {
  /**
   * Does the work in a span, which ends when the work ends; where nothing is traced, just the work. Log lines of a request
   * and of a reconcile that are traced have the fact `traceId`.
   *
   * `parent` and `link` are in the form of the header `traceparent` (https://www.w3.org/TR/trace-context/); another form is
   * ignored.
   */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** The current span, for another process to continue or to link; `undefined` where nothing is traced. */
  traceparent(): string | undefined;
  /** Sends what is left, and waits for that no longer than a few seconds. Never throws. */
  close(): Promise<void>;
}

const NO_SPAN: Span = { set: () => undefined, rename: () => undefined, failed: () => undefined };

/** Traces nothing. */
export const noTracing: Tracing = {
  span: (_name, _options, work) => work(NO_SPAN),
  traceparent: () => undefined,
  close: async () => undefined,
};
