import type { KubeClient } from "../../kit/client/kube-client.ts";
import { resourcePath } from "../../kit/client/objects.ts";
import type { LogLine } from "../../ports/api/pods.ts";
import { type Pod, podType } from "./pod-objects.ts";

/** The stamp that a kubelet writes before a line on request; nodes have time zones. */
const STAMP = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2}) ?/;

/** One run of one container, whose log the kubelet has. */
export interface LogPlace {
  readonly pod: Pod;
  readonly container: string;
  /** True for the run before the last one; the kubelet keeps no older one. */
  readonly isPrevious: boolean;
}

/** The path of the log of a run, and the query for its stamped lines. */
export function logOf({ pod, container, isPrevious }: LogPlace) {
  const path = resourcePath(podType, { ...pod.metadata, subresource: "log" });
  return { path, query: { container, timestamps: "true", ...(isPrevious ? { previous: "true" } : {}) } };
}

/** A log up to a limit. Where it is cut, the last line is left out: it is not whole, and could end within a secret. */
export async function wholeLines(
  client: KubeClient,
  place: LogPlace,
  selection: Readonly<Record<string, string>>,
  { limitBytes, signal }: { readonly limitBytes: number; readonly signal: AbortSignal },
) {
  const { path, query } = logOf(place);
  const whole = { ...query, ...selection, limitBytes: String(limitBytes) };
  const text = await client.text(path, whole, { limitBytes, signal });
  const isCut = Buffer.byteLength(text) >= limitBytes - 4;
  return { text: isCut ? text.slice(0, text.lastIndexOf("\n") + 1) : text, isCut };
}

/** A line as the kubelet stamped it, its text as it was written; undefined for the kubelet's own messages. */
export function stampedLine(line: string): LogLine | undefined {
  const [stamp = "", second = "", fraction = "", zone] = STAMP.exec(line) ?? [];
  if (stamp === "") return undefined;
  const utc = zone === "Z" ? second : new Date(`${second}${zone}`).toISOString().slice(0, 19);
  // A carriage return would be taken for the end of a line.
  return { at: `${utc}.${fraction.padEnd(9, "0")}Z`, text: line.slice(stamp.length).trimEnd().replaceAll("\r", " ") };
}

/** Lines of a log with stamps. */
export function stampedLines(text: string): LogLine[] {
  return text.split("\n").flatMap((line) => stampedLine(line) ?? []);
}
