import type { Metrics } from "../../ports/observability/metrics.ts";
import type { MetricRegistry } from "./registry.ts";

/** Counts the calls of ports whose methods answer promises; other members are as they were. */
export function serviceCalls(registry: MetricRegistry): Metrics["counted"] {
  const total = registry.counter("ephemeral_service_calls_total");
  const duration = registry.histogram("ephemeral_service_call_duration_seconds");
  return (service, port) => {
    const follow = (operation: string, answer: unknown) => {
      if (!(answer instanceof Promise)) return answer;
      const startedMs = performance.now();
      const end = (outcome: "ok" | "error") => {
        total.inc({ service, operation, outcome });
        duration.observe({ service, operation }, (performance.now() - startedMs) / 1000);
      };
      return answer.then(
        (value) => {
          end("ok");
          return value;
        },
        (error: unknown) => {
          end("error");
          throw error;
        },
      );
    };
    return new Proxy(port, {
      get(target, member) {
        const found: unknown = Reflect.get(target, member);
        if (typeof found !== "function" || typeof member === "symbol") return found;
        return (...given: unknown[]) => follow(member, Reflect.apply(found, target, given));
      },
    });
  };
}
