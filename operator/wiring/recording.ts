import { kubernetesRollupStore } from "../adapters/kubernetes/records/rollups.ts";
import type { Metrics } from "../ports/observability/metrics.ts";
import { countedMetrics } from "../rollups/counted-metrics.ts";
import { createRecorder, type Recorder } from "../rollups/recorder.ts";
import type { Foundations } from "./foundations.ts";
import { processIdentity } from "./process-identity.ts";

const LOOP = "request counts";

/** Metrics of a process, with the recorder of what must outlive it; neither without metrics. */
export function createRecording(
  { client, settings, clock, log }: Foundations,
  metrics: Metrics | undefined,
): { readonly recorder?: Recorder; readonly metrics?: Metrics } {
  if (metrics === undefined) return {};
  const store = kubernetesRollupStore({ client, namespace: settings.namespace });
  const stored = () => metrics.loopSucceeded(LOOP);
  const recorder = createRecorder({ store, writer: processIdentity(), clock, log, stored });
  return { recorder, metrics: countedMetrics(metrics, recorder) };
}
