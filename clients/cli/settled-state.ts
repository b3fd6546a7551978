import type { EnvironmentReport } from "../sdk/index.ts";

/** State in which an environment stays until something changes it; `undefined` while it is on its way to one. */
export function settledState(report: EnvironmentReport): "ready" | "asleep" | "failed" | undefined {
  // Until the operator has seen it, the status describes the former spec.
  if (!report.observed) return undefined;
  if (report.status === "failed") return "failed";
  // The operator removes the condition; a state before the sleep does not count.
  const sleeps = report.conditions.some(
    ({ type, status }) => (type === "Suspended" || type === "Asleep") && status === "True",
  );
  const isToSleep = report.suspended || report.sleep?.state === "asleep";
  if (report.status !== "ready" || report.sleep?.state === "waking" || isToSleep !== sleeps) return undefined;
  return sleeps ? "asleep" : "ready";
}
