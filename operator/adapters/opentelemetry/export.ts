import { AsyncLocalStorage } from "node:async_hooks";
import { DiagLogLevel, diag } from "@opentelemetry/api";
import { setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, type SpanProcessor } from "@opentelemetry/sdk-trace";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { reportLimit } from "../../kit/time/rate-limits.ts";

/** Destination of spans. */
export interface SpanDestination {
  /** Base address of the collector, such as `http://collector:4318`. */
  readonly endpoint: string;
  /** CA of its certificate, in PEM. */
  readonly ca?: string | undefined;
  readonly headers?: ReadonlyMap<string, Sensitive> | undefined;
  readonly log: Log;
  readonly clock: Clock;
}

/** Retries included. A retry's timer keeps the process alive. */
const EXPORT_MS = 3_000;
const CLOSE_MS = 3_000;
const REPORT_EVERY_MS = 60_000;
const LONGEST_REASON = 300;

/** Sends spans in batches. Unsendable ones are dropped, with at most one log line a minute. */
export function spanExport({ endpoint, ca, headers, log, clock }: SpanDestination): {
  readonly processor: SpanProcessor;
  close(): Promise<void>;
} {
  const reports = reportLimit(clock, REPORT_EVERY_MS);
  // Detaches the line from the work during which the batch is sent.
  const report = AsyncLocalStorage.bind((reason: string) => {
    if (reports.isDue()) log.warn("spans are not delivered", { reason: reason.slice(0, LONGEST_REASON) });
  });
  // Both are global: the SDK reports nowhere else.
  setGlobalErrorHandler((error) =>
    report(typeof error === "string" ? error : (error.message ?? error.name ?? "unknown")),
  );
  const say = (...said: readonly unknown[]) => report(said.filter((part) => typeof part === "string").join(" "));
  const silent = () => undefined;
  diag.setLogger(
    { error: say, warn: say, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
    timeoutMillis: EXPORT_MS,
    headers: Object.fromEntries([...(headers ?? [])].map(([name, value]) => [name, value.reveal()])),
    ...(ca !== undefined && { httpAgentOptions: { ca, keepAlive: true } }),
  });
  const processor = new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_MS });
  return {
    processor,
    close: () =>
      new Promise<void>((resolve) => {
        const cancel = clock.setTimer(CLOSE_MS, resolve);
        void processor
          .shutdown()
          .catch((error: Error) => report(error.message))
          .finally(cancel)
          .then(resolve);
      }),
  };
}
