import { KubeError } from "../client/errors.ts";
import type { KubeClient, ListOptions, WatchEvent, WatchOptions } from "../client/kube-client.ts";
import { isOfType, type KubeObject, keyOf, type ResourceType } from "../client/objects.ts";
import { errorOfEvent } from "../client/responses.ts";
import type { Clock } from "../time/clock.ts";
import { boundedSignal } from "../time/deadline.ts";
import { yieldIfDue } from "../time/yield-if-due.ts";

/** Everything that there is of a kind, and where a watch may go on. */
export interface Collection<T> {
  /** By key. */
  readonly items: ReadonlyMap<string, T>;
  readonly resourceVersion: string;
  /** What happened to these objects while they came, in order: for who has to know of versions that are past already. */
  readonly changes: readonly WatchEvent<T>[];
}

export interface CollectionOptions<T extends KubeObject>
  extends Pick<WatchOptions, "namespace" | "labelSelector" | "fieldSelector" | "signal"> {
  readonly clock: Clock;
  /** What is gathered of each object, as it comes in. */
  readonly keep: (object: T) => T;
  /** Called whenever something has come in. */
  readonly onProgress: () => void;
  /** Called with the failure when pages have to be asked for. */
  readonly onFallback: (error: unknown) => void;
}

/** While the API server streams what it has in memory, it is never silent for long. */
const LONGEST_SILENCE_MS = 10_000;
/** Long enough for any collection that keeps coming. */
const STREAM_SECONDS = 300;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * The whole collection, as it is now: a consistent read.
 *
 * Streamed as the beginning of a watch, which the API server answers from its memory, object by object. A server that
 * can't, or that stops on the way, is asked for pages: whatever the reason, it must be possible to go on.
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists)
 * @throws KubeError when pages can't be had either, or the server asks to wait
 */
export async function listWatch<T extends KubeObject>(
  client: Pick<KubeClient, "list" | "watch">,
  type: ResourceType<T>,
  options: CollectionOptions<T>,
): Promise<Collection<T>> {
  try {
    return await streamed(client, type, options);
  } catch (error) {
    if (options.signal.aborted || isToWait(error)) throw error;
    options.onFallback(error);
    const { clock: _, onFallback: __, onProgress: onPage, ...listing } = options;
    return inPages(client, type, { ...listing, onPage });
  }
}

async function inPages<T extends KubeObject>(
  client: Pick<KubeClient, "list">,
  type: ResourceType<T>,
  options: ListOptions<T>,
): Promise<Collection<T>> {
  const { items, resourceVersion } = await client.list(type, options);
  return { items: new Map(items.map((item) => [keyOf(item), item])), resourceVersion, changes: [] };
}

/** Pages would cost an overloaded server more. */
const isToWait = (error: unknown) => error instanceof KubeError && error.status === 429;

async function streamed<T extends KubeObject>(
  client: Pick<KubeClient, "watch">,
  type: ResourceType<T>,
  { clock, keep, onProgress, onFallback: _, signal, ...selection }: CollectionOptions<T>,
): Promise<Collection<T>> {
  const bound = boundedSignal({ clock, deadlineMs: LONGEST_SILENCE_MS, signals: [signal] });
  const onBytes = () => {
    bound.restartDeadline();
    onProgress();
  };
  try {
    const start = { ...selection, timeoutSeconds: STREAM_SECONDS, signal: bound.signal, onBytes };
    const collection = await gathered(client.watch(type, start), type, keep);
    if (collection !== undefined) return collection;
    throw new KubeError({ status: 0, reason: bound.cutBy() === "deadline" ? "Timeout" : "BrokenStream" });
  } finally {
    bound.release();
  }
}

/** The first word about an object is its state, every later one a change; undefined when the stream ends before all came. */
async function gathered<T extends KubeObject>(
  events: AsyncIterable<WatchEvent<T>>,
  type: ResourceType<T>,
  keep: (object: T) => T,
): Promise<Collection<T> | undefined> {
  const items = new Map<string, T>();
  const changes: WatchEvent<T>[] = [];
  for await (const event of events) {
    await yieldIfDue();
    const { object } = event;
    if (event.type === "ERROR") throw errorOfEvent(object);
    const key = keyOf(object);
    if (event.type === "ADDED" && isOfType(object, type) && !items.has(key)) items.set(key, keep(object));
    else if (event.type !== "BOOKMARK") changes.push(event);
    else if (object.metadata.annotations?.[INITIAL_EVENTS_END] === "true")
      return { items, changes, resourceVersion: object.metadata.resourceVersion };
  }
  return undefined;
}
