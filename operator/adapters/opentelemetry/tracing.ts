import {
  type Link,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type Context as SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { parseTraceParent } from "@opentelemetry/core";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { withLogFacts } from "../../kit/log.ts";
import { noTracing, type Span, type SpanAttributes, type SpanOptions, type Tracing } from "../../kit/tracing.ts";
import { type SpanDestination, spanExport } from "./export.ts";

/** Destination and ratio of spans, and this process's identity. */
export interface OpenTelemetryOptions extends SpanDestination {
  /** Recorded ratio of traces that begin here. */
  readonly sampleRatio: number;
  readonly version: string;
  readonly instance: string;
}

const SERVICE = "ephemeral-environments";

const KINDS = { request: SpanKind.SERVER, reconcile: SpanKind.INTERNAL, call: SpanKind.CLIENT } as const;

/** Tracing port with OpenTelemetry, to an OTLP/HTTP collector. */
export function openTelemetryTracing(options: OpenTelemetryOptions): Tracing {
  const { sampleRatio, version, instance } = options;
  const { processor, close } = spanExport(options);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": SERVICE,
      "service.version": version,
      "service.instance.id": instance,
    }),
    sampler: sampler(sampleRatio),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer(SERVICE, version);
  // A private instance: the global one is shared.
  const contexts = new AsyncLocalStorageContextManager();
  const current = () => lasting(trace.getSpan(contexts.active()));
  return {
    span(name, given, work) {
      if (given.kind === "call" && current() === undefined) return noTracing.span(name, given, work);
      const parent = parentOf(given, contexts.active());
      const { kind, attributes = {} } = given;
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes, links: linksOf(given) }, parent);
      const inSpan = () => contexts.with(trace.setSpan(parent, span), () => untilEnd(span, work));
      if (kind === "call" || !span.isRecording()) return inSpan();
      return withLogFacts({ traceId: span.spanContext().traceId }, inSpan);
    },
    traceparent() {
      const { traceId, spanId } = current()?.spanContext() ?? {};
      return traceId && spanId && `00-${traceId}-${spanId}-01`;
    },
    close,
  };
}

/** A recording span that has not ended. */
function lasting(span: SdkSpan | undefined): SdkSpan | undefined {
  return span?.isRecording() ? span : undefined;
}

function parentOf(options: SpanOptions, active: SpanContext): SpanContext {
  if (options.kind === "call") return active;
  const remote = options.kind === "request" ? parsed(options.parent) : undefined;
  return remote === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, remote);
}

function linksOf(options: SpanOptions): Link[] {
  const context = options.kind === "reconcile" ? parsed(options.link) : undefined;
  return context === undefined ? [] : [{ context }];
}

function parsed(traceparent: string | undefined) {
  const found = traceparent === undefined ? null : parseTraceParent(traceparent);
  return found === null ? undefined : { ...found, isRemote: true };
}

async function untilEnd<T>(span: SdkSpan, work: (span: Span) => Promise<T>): Promise<T> {
  const failed = (reason: string) => {
    set(span, { "error.type": reason });
    lasting(span)?.setStatus({ code: SpanStatusCode.ERROR });
  };
  try {
    return await work({
      set: (attributes) => set(span, attributes),
      rename: (name) => void lasting(span)?.updateName(name),
      failed,
    });
  } catch (error) {
    // Messages may quote confidential values.
    failed(error instanceof Error ? error.name : typeof error);
    throw error;
  } finally {
    span.end();
  }
}

function set(span: SdkSpan, attributes: SpanAttributes): void {
  lasting(span)?.setAttributes(attributes);
}

/** Records traces that the caller records or that link to a recorded one, and of all others the given ratio. */
function sampler(ratio: number): Sampler {
  const [always, some] = [new AlwaysOnSampler(), new TraceIdRatioBasedSampler(ratio)];
  return new ParentBasedSampler({
    root: {
      shouldSample(...[context, traceId, , , , links]) {
        return links.length > 0 ? always.shouldSample() : some.shouldSample(context, traceId);
      },
      toString: () => `LinkedOr{${some}}`,
    },
  });
}
