/** Attributes of a span: names, counts, statuses. Never a secret value, a token, a body, a query string or a person. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A running span. */
export interface Span {
  /** Adds attributes; `undefined` ones are left out. */
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /**
   * Marks the work as failed although it does not throw.
   *
   * @param reason a word, such as `timeout` or a status; never a message, which may quote anything
   */
  failed(reason: string): void;
}

/**
 * Relation to other spans. A `request` continues its caller's trace, if any. A `reconcile` begins a trace, with a link
 * to its cause. A `call` belongs to the current span, and is not traced without one.
 */
export type SpanOptions =
  | { readonly kind: "request"; readonly attributes?: SpanAttributes; readonly parent?: string | undefined }
  | { readonly kind: "reconcile"; readonly attributes?: SpanAttributes; readonly link?: string | undefined }
  | { readonly kind: "call"; readonly attributes?: SpanAttributes };

/** Traces work across processes: https://opentelemetry.io/docs/concepts/signals/traces/ */
export interface Tracing {
  /**
   * Runs the work in a span that ends with it; without tracing, just the work. Log lines of traced requests and
   * reconciles have the fact `traceId`.
   *
   * `parent` and `link` have the form of the header `traceparent` (https://www.w3.org/TR/trace-context/); other forms
   * are ignored.
   */
  span<T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T>;
  /** The current span, for another process to continue or link; `undefined` without tracing. */
  traceparent(): string | undefined;
  /** Sends the rest, for a few seconds at most. Never throws. */
  close(): Promise<void>;
}

const NO_SPAN: Span = { set: () => undefined, rename: () => undefined, failed: () => undefined };

export const noTracing: Tracing = {
  span: (_name, _options, work) => work(NO_SPAN),
  traceparent: () => undefined,
  close: async () => undefined,
};
