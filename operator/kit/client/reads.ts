import { yieldIfDue } from "../time/yield-if-due.ts";
import { insteadOf, isGone, isNotFound, KubeError } from "./errors.ts";
import type { Call, KubeExchange, OpenStream } from "./exchange.ts";
import type { CallOptions, KubeClient, ListOptions, ListResult, TextOptions } from "./kube-client.ts";
import { apiVersionOf, type KubeObject, type ResourceType, resourcePath } from "./objects.ts";
import type { KubeResponse } from "./request.ts";
import { errorOfWire } from "./responses.ts";

/** A page costs a few milliseconds, in which the event loop is blocked. */
const PAGE_SIZE = 100;
const MOST_LIST_RESTARTS = 3;

/** Excludes plain JSON: a server that can't reduce the object must refuse. */
const metadataOnly = (kind: string) => `application/json;as=${kind};g=meta.k8s.io;v=v1`;

/** Read methods of the client. */
export function kubeReads(exchange: KubeExchange): Pick<KubeClient, "find" | "list" | "text" | "lines" | "serverTime"> {
  return {
    async find<T extends KubeObject>(...[type, ref, options]: Parameters<KubeClient["find"]>) {
      const accept = options?.metadataOnly ? metadataOnly("PartialObjectMetadata") : undefined;
      const path = resourcePath(type, ref);
      const call: Call = { verb: "get", method: "GET", type, ...ref, path, query: {}, accept };
      return exchange
        .read(call, options?.signal)
        .then(objectOf<T>)
        .catch(insteadOf(isNotFound, undefined));
    },
    list: (type, options = {}) => restartingList(exchange, type, options),
    text: (path, query, options) => boundedText(exchange, { path, query }, options),
    lines: (path, query, options) => lines(exchange, { path, query }, options),
    async serverTime(options) {
      const call: Call = { verb: "version", method: "GET", path: "/version", query: {} };
      const { headers } = await exchange.read(call, options?.signal);
      const time = new Date(headers.date ?? "");
      if (Number.isNaN(time.getTime())) throw new KubeError({ status: 0, reason: "NoServerTime" });
      return time;
    },
  };
}

/** The object in a response. @throws KubeError with reason `BrokenAnswer` for anything else */
export function objectOf<T extends KubeObject>({ body }: KubeResponse): T {
  if (typeof body === "object" && body !== null && "metadata" in body) return body as unknown as T;
  throw new KubeError({ status: 0, reason: "BrokenAnswer" });
}

/** A page token lives as long as its snapshot (5 min); then only a new list is consistent. */
async function restartingList<T extends KubeObject>(
  exchange: KubeExchange,
  type: ResourceType<T>,
  options: ListOptions<T>,
): Promise<ListResult<T>> {
  for (let restarts = 0; ; restarts += 1) {
    try {
      return await allPages(exchange, type, options);
    } catch (error) {
      if (!isGone(error) || restarts >= MOST_LIST_RESTARTS) throw error;
    }
  }
}

async function allPages<T extends KubeObject>(
  exchange: KubeExchange,
  type: ResourceType<T>,
  options: ListOptions<T>,
): Promise<ListResult<T>> {
  const { keep = (object: T) => object } = options;
  const items: T[] = [];
  let continueToken: string | undefined;
  for (;;) {
    const page = listOf<T>(await exchange.read(pageCall(type, options, continueToken), options.signal));
    options.onPage?.();
    // Built-in kinds omit apiVersion and kind from list items.
    for (const item of page.items) {
      await yieldIfDue();
      items.push(keep({ ...item, apiVersion: apiVersionOf(type), kind: type.kind }));
    }
    continueToken = page.metadata.continue || undefined;
    if (continueToken === undefined) return { items, resourceVersion: page.metadata.resourceVersion };
  }
}

function pageCall(
  type: ResourceType,
  options: Omit<ListOptions, "keep" | "onPage">,
  continueToken: string | undefined,
): Call {
  const { namespace, labelSelector, fieldSelector, limit = PAGE_SIZE } = options;
  return {
    verb: "list",
    method: "GET",
    type,
    namespace,
    path: resourcePath(type, { namespace }),
    accept: options.metadataOnly ? metadataOnly("PartialObjectMetadataList") : undefined,
    query: { limit: String(limit), labelSelector, fieldSelector, continue: continueToken },
  };
}

interface ListBody<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[];
}

function listOf<T extends KubeObject>(response: KubeResponse): ListBody<T> {
  const list = objectOf(response) as unknown as { metadata: ListBody<T>["metadata"]; items?: readonly T[] | null };
  if (typeof list.metadata?.resourceVersion !== "string") throw new KubeError({ status: 0, reason: "BrokenAnswer" });
  return { metadata: list.metadata, items: list.items ?? [] };
}

async function boundedText(
  exchange: KubeExchange,
  where: Pick<Call, "path" | "query">,
  { signal, limitBytes, accept }: TextOptions,
): Promise<string> {
  const opened = await exchange.stream({ verb: "get", method: "GET", ...where, accept }, signal);
  try {
    return await firstBytes(opened, limitBytes);
  } catch (error) {
    throw errorOfWire(error, opened.bound.cutBy());
  } finally {
    opened.close();
  }
}

async function firstBytes({ bytes }: OpenStream, limitBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let left = limitBytes;
  for await (const chunk of bytes) {
    const kept = chunk.subarray(0, left);
    left -= kept.length;
    // In stream mode the decoder withholds a character that the limit cut.
    text += decoder.decode(kept, { stream: true });
    if (left === 0) break;
  }
  return text;
}

/** Longer lines are cut to bound memory. */
const LONGEST_LINE_BYTES = 64 * 1024;
const NEWLINE = 10;

async function* lines(
  exchange: KubeExchange,
  where: Pick<Call, "path" | "query">,
  { signal }: Required<CallOptions>,
): AsyncGenerator<string> {
  const opened = await exchange.stream({ verb: "get", method: "GET", ...where }, signal);
  opened.bound.endDeadline();
  try {
    yield* textLines(opened.bytes);
  } catch (error) {
    throw errorOfWire(error, opened.bound.cutBy());
  } finally {
    opened.close();
  }
}

/** Complete lines of a text, without line ends; drops an unfinished last one. Reads on when all lines are taken. */
async function* textLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let open: Uint8Array[] = [];
  let openBytes = 0;
  const add = (piece: Uint8Array) => {
    const kept = piece.subarray(0, LONGEST_LINE_BYTES - openBytes);
    if (kept.length > 0) open.push(kept);
    openBytes += kept.length;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      const line = Buffer.concat(open).toString("utf8");
      open = [];
      openBytes = 0;
      start = end + 1;
      yield line;
    }
    add(chunk.subarray(start));
  }
}
