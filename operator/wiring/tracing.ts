import type { Settings } from "../../config/settings.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import { contentOf } from "../kit/content-of.ts";
import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import { noTracing, type Tracing } from "../kit/tracing.ts";
import { processIdentity } from "./process.ts";

interface Context {
  readonly log: Log;
  readonly clock: Clock;
  readonly version: string;
}

/**
 * Tracing of the settings; files are read once. Without tracing no module of OpenTelemetry is loaded.
 *
 * @throws Error when a file is unreadable, or a headers file is invalid
 */
export async function createTracing({ tracing }: Pick<Settings, "tracing">, context: Context): Promise<Tracing> {
  const { endpoint, sampleRatio, caFile, headersFile } = tracing;
  if (endpoint === undefined) return noTracing;
  const headers = contentOf(headersFile);
  const files = {
    ca: contentOf(caFile),
    headers: headers === undefined ? undefined : headersOf(headers),
  };
  const { openTelemetryTracing } = await import("../adapters/opentelemetry/tracing.ts");
  return openTelemetryTracing({ ...context, ...files, endpoint, sampleRatio, instance: processIdentity() });
}

/** A token of HTTP, a colon and printable ASCII: https://www.rfc-editor.org/rfc/rfc9110.html#name-fields */
const HEADER = /^([!#$%&'*+\-.^_`|~\dA-Za-z]+):[ \t]*([\x20-\x7e]+)$/;

/** Headers of a text, one per line. Errors name the line only, because the rest may be a secret. */
export function headersOf(text: string): ReadonlyMap<string, Sensitive> {
  const headers = new Map<string, Sensitive>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, name, value] = HEADER.exec(line.trim()) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`settings.tracing.headersFile: line ${index + 1} of the file is not 'name: value'`);
    }
    headers.set(name.toLowerCase(), new Sensitive(value));
  }
  return headers;
}
