import { openTelemetryTracing } from "../../../operator/adapters/opentelemetry/tracing.ts";
import type { Log } from "../../../operator/kit/log.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import type { Tracing } from "../../../operator/kit/tracing.ts";
import { silentLog } from "../fixtures/silent-log.ts";
import { otlpReceiver, type ReceivedSpan } from "./otlp-receiver.ts";

/** The real tracing, and a collector for its spans. */
export interface TracedWork {
  readonly tracing: Tracing;
  /** Ends the tracing; answers all spans, in the order in which they ended. */
  received(): Promise<readonly ReceivedSpan[]>;
}

/** Traces into a collector, which `received` stops. */
export async function receivedSpans({ sampleRatio = 1, log = silentLog }: Options = {}): Promise<TracedWork> {
  const receiver = await otlpReceiver();
  const { endpoint } = receiver;
  const context = { endpoint, sampleRatio, log, clock: systemClock, version: "1.2.3", instance: "one" };
  const tracing = openTelemetryTracing(context);
  return {
    tracing,
    async received() {
      await tracing.close();
      await receiver.stop();
      return receiver.spans;
    },
  };
}

interface Options {
  readonly sampleRatio?: number;
  readonly log?: Log;
}
