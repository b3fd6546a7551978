import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isFailed: boolean;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A collector for OTLP/HTTP in JSON: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
export interface OtlpReceiver {
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  readonly text: string;
  /** Received batches, answered or not. */
  readonly batches: number;
  readonly headers: IncomingHttpHeaders;
  /** Handles a request, as the receiver's own server does. */
  take(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Answers no batch before the end. */
  hang(): void;
  stop(): Promise<void>;
}

/** JSON of `opentelemetry/proto/common/v1/common.proto`; numbers of 64 bits are strings. */
interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface WireSpan extends Omit<ReceivedSpan, "attributes" | "links" | "isFailed" | "resource"> {
  readonly attributes?: readonly KeyValue[];
  readonly links?: ReceivedSpan["links"];
  readonly status?: { readonly code?: number };
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

const STATUS_ERROR = 2;

/** Listens on a free port. */
export async function otlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  let [text, batches, isHanging] = ["", 0, false];
  let headers: IncomingHttpHeaders = {};
  const ended = Promise.withResolvers<void>();
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    batches += 1;
    headers = request.headers;
    const batch = (await json(request)) as ExportRequest;
    text += JSON.stringify(batch);
    if (isHanging) await ended.promise;
    const isTraces = request.method === "POST" && request.url === "/v1/traces";
    if (isTraces) spans.push(...spansOf(batch));
    // Otherwise the end would wait for idle connections.
    response.writeHead(isTraces ? 200 : 404, { "content-type": "application/json", connection: "close" }).end("{}");
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    get text() {
      return text;
    },
    get batches() {
      return batches;
    },
    get headers() {
      return headers;
    },
    take,
    hang() {
      isHanging = true;
    },
    async stop() {
      ended.resolve();
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

function spansOf({ resourceSpans }: ExportRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map(({ traceId, spanId, parentSpanId, name, attributes, links = [], status }) => ({
        traceId,
        spanId,
        name,
        links,
        isFailed: status?.code === STATUS_ERROR,
        ...(parentSpanId === undefined ? {} : { parentSpanId }),
        attributes: valuesOf(attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
