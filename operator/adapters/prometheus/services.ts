import type { ServiceCallSeam } from "../../ports/observability/metrics.ts";
import type { MetricRegistry } from "./registry.ts";

export function serviceCallCounter(registry: MetricRegistry): ServiceCallSeam {
  const total = registry.counter("ephemeral_service_calls_total");
  const duration = registry.histogram("ephemeral_service_call_duration_seconds");
  return async ({ service, operation }, next) => {
    const startedMs = performance.now();
    let outcome: "ok" | "error" = "error";
    try {
      const answer = await next();
      outcome = "ok";
      return answer;
    } finally {
      total.inc({ service, operation, outcome });
      duration.observe((performance.now() - startedMs) / 1000, { service, operation });
    }
  };
}
