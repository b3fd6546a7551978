import type { Settings } from "../../../config/settings.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { noTracing, type Tracing } from "../../kit/tracing.ts";
import { processIdentity } from "../process-identity.ts";

interface Context {
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
}

/** The tracing that the settings ask for. A process that traces nothing loads no module of OpenTelemetry. */
export async function createTracing({ tracing }: Pick<Settings, "tracing">, context: Context): Promise<Tracing> {
  const { endpoint, sampleRatio } = tracing;
  if (endpoint === undefined) return noTracing;
  const { openTelemetryTracing } = await import("../../adapters/opentelemetry/tracing.ts");
  return openTelemetryTracing({ ...context, endpoint, sampleRatio, instance: processIdentity() });
}
