import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { kubernetesRollupStore } from "../adapters/kubernetes/records/rollups.ts";
import type { Metrics } from "../ports/metrics.ts";
import { countedMetrics } from "../rollups/counted-metrics.ts";
import { createRecorder, type Recorder } from "../rollups/recorder.ts";
import type { Foundations } from "./foundations.ts";

/** What a process counts, and the recorder that keeps what has to outlive the process; neither where nothing is counted. */
export function createRecording(
  { client, settings, clock, log }: Foundations,
  metrics: Metrics | undefined,
): { readonly recorder?: Recorder; readonly metrics?: Metrics } {
  if (metrics === undefined) return {};
  const store = kubernetesRollupStore({ client, namespace: settings.namespace });
  const writer = `${hostname()}-${randomBytes(4).toString("hex")}`;
  const recorder = createRecorder({ store, writer, clock, log });
  return { recorder, metrics: countedMetrics(metrics, recorder) };
}
