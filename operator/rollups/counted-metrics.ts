import { COUNTERS, durationCounter } from "../../crds/usage/rollup.ts";
import type { ReconcileOutcome } from "../kit/controller/controller.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Recorder } from "./recorder.ts";

/** Route of webhooks, whose senders wait for the answer. */
const WEBHOOK_ROUTE = /^\/api\/webhooks\/(pipelinehost|repohost)(\/|$)/;

const FAILED: readonly ReconcileOutcome[] = ["failed", "panic", "timeout"];

/** Metrics that also record what must outlive the process. */
export function countedMetrics(metrics: Metrics, recorder: Recorder): Metrics {
  return {
    ...metrics,
    controllers: {
      of(controller, pool) {
        const counts = metrics.controllers.of(controller, pool);
        return {
          ...counts,
          reconciled(outcome, durationMs) {
            counts.reconciled(outcome, durationMs);
            recorder.count(durationCounter(COUNTERS.reconcileMs, durationMs));
            if (FAILED.includes(outcome)) recorder.count(COUNTERS.reconcileErrors);
          },
        };
      },
    },
    requests: {
      ...metrics.requests,
      ended(request) {
        metrics.requests.ended(request);
        const { method, route, status, durationMs } = request;
        // A path without a route is no part of the interface.
        if (route === undefined) return;
        const isError = status >= 500;
        recorder.count(COUNTERS.requests, ...(isError ? [COUNTERS.requestErrors] : []));
        if (method !== "POST" || !WEBHOOK_ROUTE.test(route)) return;
        const measured = isError ? COUNTERS.webhookErrors : durationCounter(COUNTERS.webhookMs, durationMs);
        recorder.count(COUNTERS.webhooks, measured);
      },
    },
    webhookEnded(source, outcome) {
      metrics.webhookEnded(source, outcome);
      recorder.count(COUNTERS.webhookOutcome(outcome));
    },
  };
}
