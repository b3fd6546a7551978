import type { Request, RequestHandler, Response } from "express";
import type { Log } from "../../operator/kit/log.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import { noTracing, type Span, type Tracing } from "../../operator/kit/tracing.ts";
import type { AnsweredRequest, RequestMetrics } from "../../operator/ports/metrics.ts";
import type { Authenticator } from "../auth/credentials.ts";
import { currentRequest } from "../request-context.ts";

interface AccessLogParts {
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: { readonly requests: RequestMetrics };
  readonly tracing?: Tracing;
  readonly isAuthentic: Authenticator["isAuthentic"];
}

/** Status of a disconnected client's request, as proxies log it. */
const CUT_OFF = 499;

const FAILED = 500;

/**
 * Logs one line a request at its end: changes and errors at level info, successful reads at debug. With tracing, one
 * span, too: in the trace of an authenticated caller, else in a new one, because a trace's caller decides about its
 * recording.
 */
export function accessLog({ log, clock, metrics, tracing = noTracing, isAuthentic }: AccessLogParts): RequestHandler {
  return (request, response, next) => {
    const startedMs = clock.monotonicMs();
    metrics.requests.begun();
    const closed = Promise.withResolvers<void>();
    response.once("close", closed.resolve);
    const serve = async (span: Span) => {
      next();
      // The continuation has the request's context, unlike the connection's end. Functions of AsyncLocalStorage.bind
      // outlive the collections of the young generation, which then take 30 times as long.
      await closed.promise;
      const answered = answeredRequest(request, response, clock.monotonicMs() - startedMs);
      write(log, answered);
      metrics.requests.ended(answered);
      describeSpan(span, answered);
    };
    const attributes = { "http.request.method": request.method, "request.id": currentRequest().requestId };
    const begin = (parent?: string) => tracing.span(request.method, { kind: "request", attributes, parent }, serve);
    const traceparent = request.get("traceparent");
    const isLone = tracing === noTracing || traceparent === undefined;
    const served = isLone
      ? begin()
      : isAuthentic(request).then((isTrusted) => begin(isTrusted ? traceparent : undefined));
    served.catch(next);
  };
}

function answeredRequest(request: Request, response: Response, durationMs: number): AnsweredRequest {
  const { contract } = currentRequest();
  return {
    method: request.method,
    route: contract?.path,
    status: response.writableEnded ? response.statusCode : CUT_OFF,
    durationMs,
    isStream: contract?.isStream === true,
  };
}

function write(log: Log, { method, route, status, durationMs }: AnsweredRequest): void {
  const { contract, caller, auditTarget } = currentRequest();
  const isRead = contract?.method === "get" && (status < 400 || status === CUT_OFF);
  log[isRead ? "debug" : "info"]("request answered", {
    method,
    route,
    status: status === CUT_OFF ? "cut off" : status,
    subject: caller?.subject,
    target: auditTarget,
    durationMs: Math.round(durationMs),
  });
}

/** Names the span by the route, with the parameters' names: a path may hold a token. */
function describeSpan(span: Span, { method, route, status }: AnsweredRequest): void {
  if (route !== undefined) span.rename(`${method} ${route}`);
  span.set({ "http.route": route, "http.response.status_code": status });
  if (status >= FAILED) span.failed(String(status));
}
