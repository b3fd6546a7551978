import { KubeError } from "./errors.ts";
import type { Call, KubeExchange, OpenStream } from "./exchange.ts";
import type { KubeClient, WatchEvent, WatchOptions } from "./kube-client.ts";
import { type KubeObject, type ResourceType, resourcePath } from "./objects.ts";

/** Watch method of the client. */
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
  const { namespace, labelSelector, timeoutSeconds } = options;
  const common = { watch: "true", allowWatchBookmarks: "true", timeoutSeconds: String(timeoutSeconds), labelSelector };
  return {
    verb: "watch",
    method: "GET",
    type,
    namespace,
    path: resourcePath(type, { namespace }),
    query: { ...common, ...startOf(options) },
  };
}

/**
 * Beginning of a watch; without a version the API server begins with the newest state, as in a consistent list, from its
 * memory.
 */
function startOf({ resourceVersion }: WatchOptions): Call["query"] {
  if (resourceVersion !== undefined) return { resourceVersion };
  return { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan" };
}

function eventOf<T>(value: unknown): WatchEvent<T> {
  if (typeof value === "object" && value !== null && "type" in value && "object" in value)
    return value as WatchEvent<T>;
  throw new KubeError({ status: 0, reason: "BrokenStream", cause: new SyntaxError("a line is no watch event") });
}

/** Longer than any object that etcd accepts (1.5 MiB by default), as JSON. */
const LONGEST_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 10;

export interface JsonLinesOptions {
  readonly onBytes?: () => void;
  /** Leaves out `managedFields`, a third of the decoding. Equal rests of objects may be shared, then frozen. */
  readonly withoutManagedFields?: boolean;
}

/**
 * JSON values of a stream of lines, grouped by the chunk that ends them: no await per value.
 *
 * Lines are cut on bytes, because a UTF-8 sequence may span two chunks. A line is decoded when its value is taken; the
 * next chunk is requested when the consumer has taken all values, which it must.
 * @throws KubeError with reason `BrokenStream` for a line that is no JSON, too long, or cut off by the end
 */
export async function* jsonLines(
  chunks: AsyncIterable<Uint8Array>,
  { onBytes, withoutManagedFields = false }: JsonLinesOptions = {},
): AsyncGenerator<Iterable<unknown>> {
  const decoded = withoutManagedFields ? decoderWithoutManagedFields(parsed) : parsed;
  let open: Uint8Array[] = [];
  let openBytes = 0;
  function* ended(chunk: Uint8Array): Generator<unknown> {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = joined(open, chunk.subarray(start, end));
      open = [];
      openBytes = 0;
      start = end + 1;
      if (line.length > 0) yield decoded(line);
    }
    open.push(chunk.subarray(start));
    openBytes += chunk.length - start;
  }
  for await (const chunk of chunks) {
    onBytes?.();
    yield ended(chunk);
    if (openBytes > LONGEST_LINE_BYTES) throw broken(new RangeError("a line exceeds 8 MiB"));
  }
  if (openBytes > 0) throw broken(new RangeError("the stream ended within a line"));
}

/** Most lines lie in one chunk. */
const joined = (open: readonly Uint8Array[], rest: Uint8Array) =>
  open.length === 0 ? rest : Buffer.concat([...open, rest]);

function parsed(line: Uint8Array): unknown {
  try {
    return JSON.parse(bytesOf(line).toString("utf8"));
  } catch {
    // The parser's own message quotes the line, which may hold a Secret.
    throw broken(new SyntaxError("a line is not JSON"));
  }
}

function broken(cause: Error): KubeError {
  return new KubeError({ status: 0, reason: "BrokenStream", cause });
}

/** Cache size, and the longest cached rest in characters: each kind has a few rests, shared by all its objects. */
const REMEMBERED = 32;
const LONGEST_REMEMBERED = 8_192;

const BEGIN = Buffer.from('"managedFields":[{');
const END = Buffer.from("}]");
const COMMA = 0x2c;
/** Follows `managedFields` where they come last in the metadata, as in all built-in kinds. */
const END_OF_METADATA = '},"';

interface Line {
  object?: object;
}

type Decode = (line: Uint8Array) => unknown;

/**
 * Decodes watch events without `managedFields`.
 *
 * Cuts the list out before decoding. Its objects hold no lists, so its end is the first text that looks like one. Where
 * that text is inside a string, invalid JSON is left.
 *
 * The rest after the metadata is equal for thousands of objects: decoded once, then frozen and shared.
 *
 * @param whole decodes a line without a cut
 */
function decoderWithoutManagedFields(whole: Decode): Decode {
  const known = new Map<string, object>();

  const decodedRest = (rest: string): object => {
    const shared = known.get(rest);
    if (shared !== undefined) return frozen(shared);
    const decoded = JSON.parse(`{${rest.slice(END_OF_METADATA.length - 1, -1)}`) as object;
    if (known.size === REMEMBERED) known.clear();
    if (rest.length <= LONGEST_REMEMBERED) known.set(rest, decoded);
    return decoded;
  };

  return (line) => {
    const bytes = bytesOf(line);
    const begin = bytes.indexOf(BEGIN);
    const end = begin < 0 ? -1 : bytes.indexOf(END, begin);
    if (end < 0) return whole(line);
    const { head, rest } = around(bytes, begin, end + END.length);
    try {
      if (!rest.startsWith(END_OF_METADATA)) return JSON.parse(head + rest);
      // Closes the metadata, the object and the event.
      const event = JSON.parse(`${head}}}}`) as Line;
      Object.assign(event.object as object, decodedRest(rest));
      return event;
    } catch {
      return whole(line);
    }
  };
}

/** Texts before and after a field, with one comma less. */
function around(bytes: Buffer, begin: number, end: number): { readonly head: string; readonly rest: string } {
  const isLast = bytes[end] !== COMMA;
  const headEnd = isLast && bytes[begin - 1] === COMMA ? begin - 1 : begin;
  return { head: bytes.toString("utf8", 0, headEnd), rest: bytes.toString("utf8", isLast ? end : end + 1) };
}

function frozen(rest: object): object {
  for (const field of Object.values(rest)) Object.freeze(field);
  return rest;
}

/** The bytes as a Buffer, without a copy. */
const bytesOf = (line: Uint8Array) => Buffer.from(line.buffer, line.byteOffset, line.length);
