import { KubeError } from "./errors.ts";
import type { Call, KubeExchange, OpenStream } from "./exchange.ts";
import type { KubeClient, WatchEvent, WatchOptions } from "./kube-client.ts";
import { type KubeObject, type ResourceType, resourcePath } from "./objects.ts";
import { jsonLines } from "./watch-stream.ts";

/** The watching part of the client. */
export function kubeWatch(exchange: KubeExchange): Pick<KubeClient, "watch"> {
  return {
    watch: <T extends KubeObject>(type: ResourceType<T>, options: WatchOptions) => events<T>(exchange, type, options),
  };
}

async function* events<T extends KubeObject>(
  exchange: KubeExchange,
  type: ResourceType<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const opened = await openWatch(exchange, type, options);
  if (opened === undefined) return;
  // From here on only the server and the caller's signal end the watch.
  opened.bound.endDeadline();
  try {
    for await (const values of jsonLines(opened.bytes, options)) for (const value of values) yield eventOf<T>(value);
  } catch (error) {
    if (options.signal.aborted) return;
    // Any early end of the connection is a broken stream to the reader.
    throw error instanceof KubeError ? error : new KubeError({ status: 0, reason: "BrokenStream", cause: error });
  } finally {
    opened.close();
  }
}

/** Undefined when the caller's signal came first. */
async function openWatch(
  exchange: KubeExchange,
  type: ResourceType,
  options: WatchOptions,
): Promise<OpenStream | undefined> {
  if (options.signal.aborted) return undefined;
  try {
    return await exchange.stream(watchCall(type, options), options.signal);
  } catch (error) {
    if (options.signal.aborted) return undefined;
    throw error;
  }
}

function watchCall(type: ResourceType, options: WatchOptions): Call {
  const place = options.namespace === undefined ? {} : { namespace: options.namespace };
  return {
    verb: "watch",
    method: "GET",
    type,
    ...place,
    path: resourcePath(type, place),
    query: {
      watch: "true",
      allowWatchBookmarks: "true",
      ...startOf(options),
      timeoutSeconds: String(options.timeoutSeconds),
      ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
    },
  };
}

/** Without a version the API server begins with the newest state, as in a consistent list, from its memory. */
function startOf({ resourceVersion }: WatchOptions): Call["query"] {
  if (resourceVersion !== undefined) return { resourceVersion };
  return { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };
}

function eventOf<T>(value: unknown): WatchEvent<T> {
  if (typeof value === "object" && value !== null && "type" in value && "object" in value)
    return value as WatchEvent<T>;
  throw new KubeError({ status: 0, reason: "BrokenStream", cause: new SyntaxError("a line is no watch event") });
}
