import { KubeError } from "../client/errors.ts";
import type { KubeClient, WatchEvent, WatchOptions } from "../client/kube-client.ts";
import { type KubeObject, keyOf, type ResourceType } from "../client/objects.ts";
import type { Clock } from "../time/clock.ts";
import { boundedSignal } from "../time/deadline.ts";
import { yieldIfDue } from "../time/yield-if-due.ts";
import { type Collection, isNewer } from "./object-cache.ts";

interface ListWatchOptions<T extends KubeObject>
  extends Pick<WatchOptions, "namespace" | "labelSelector" | "withoutManagedFields" | "signal"> {
  readonly clock: Clock;
  /** False for an event that no cache can use. @throws KubeError for an ERROR event */
  readonly isUsable: (event: WatchEvent<T>) => boolean;
  /** Trims each object as it arrives. */
  readonly keep: (object: T) => T;
  readonly onProgress: () => void;
  /** Called with the failure before the fallback to pages. */
  readonly onFallback: (error: unknown) => void;
}

/** A stream from the API server's memory is never silent for long. */
const LONGEST_SILENCE_MS = 10_000;
const STREAM_SECONDS = 300;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * The whole current collection: a consistent read.
 *
 * Streamed as the beginning of a watch, which the API server answers from memory. On any failure pages are read
 * instead. (https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists)
 * @throws KubeError when pages fail too, or the server asks to wait
 */
export async function listWatch<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  options: ListWatchOptions<T>,
): Promise<Collection<T>> {
  try {
    return await streamed(client, type, options);
  } catch (error) {
    if (options.signal.aborted || isToWait(error)) throw error;
    options.onFallback(error);
    const { namespace, labelSelector, signal, keep, onProgress: onPage } = options;
    const { items, resourceVersion } = await client.list(type, { namespace, labelSelector, signal, keep, onPage });
    return { items: new Map(items.map((item) => [keyOf(item), item])), resourceVersion };
  }
}

/** Pages would cost an overloaded server more. */
const isToWait = (error: unknown) => error instanceof KubeError && error.status === 429;

async function streamed<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  { clock, keep, isUsable, onProgress, onFallback: _, signal, ...selection }: ListWatchOptions<T>,
): Promise<Collection<T>> {
  const bound = boundedSignal({ clock, deadlineMs: LONGEST_SILENCE_MS, signals: [signal] });
  const onBytes = () => {
    bound.restartDeadline();
    onProgress();
  };
  try {
    const start = { ...selection, timeoutSeconds: STREAM_SECONDS, signal: bound.signal, onBytes };
    const collection = await gathered(client.watch(type, start), { keep, isUsable });
    if (collection !== undefined) return collection;
    throw new KubeError({ status: 0, reason: bound.cutBy() === "deadline" ? "Timeout" : "BrokenStream" });
  } finally {
    bound.release();
  }
}

/** Undefined when the stream ends early. */
async function gathered<T extends KubeObject>(
  events: AsyncIterable<WatchEvent<T>>,
  { keep, isUsable }: Pick<ListWatchOptions<T>, "keep" | "isUsable">,
): Promise<Collection<T> | undefined> {
  const items = new Map<string, T>();
  for await (const event of events) {
    await yieldIfDue();
    if (!isUsable(event)) continue;
    const { resourceVersion, annotations } = event.object.metadata;
    if (event.type !== "BOOKMARK") take(event, items, keep);
    else if (annotations?.[INITIAL_EVENTS_END] === "true") return { items, resourceVersion };
  }
  return undefined;
}

/** Changes during the list are part of it. */
function take<T extends KubeObject>(
  { type, object }: WatchEvent<T>,
  items: Map<string, T>,
  keep: (object: T) => T,
): void {
  const key = keyOf(object);
  const known = items.get(key)?.metadata;
  if (known !== undefined && !isNewer(object.metadata.resourceVersion, known.resourceVersion)) return;
  if (type === "DELETED") items.delete(key);
  else items.set(key, keep(object));
}
