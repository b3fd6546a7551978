import type { Dispatcher } from "undici";
import type { Clock } from "../time/clock.ts";
import { type BoundedSignal, boundedSignal, orAborted, within } from "../time/deadline.ts";
import { yieldIfDue } from "../time/yield-if-due.ts";
import type { KubeConnections, WireRequest } from "./connections.ts";
import { KubeError } from "./errors.ts";
import { isWrite, type KubeRequest, type KubeResponse, type RequestInterceptor } from "./request.ts";
import { assertAccepted, errorOfWire, flatHeaders } from "./responses.ts";
import { retryRead } from "./retries.ts";

export interface Call extends KubeRequest {
  readonly method: WireRequest["method"];
  readonly contentType?: string;
  /** Requested media type, unless plain JSON. */
  readonly accept?: string | undefined;
}

/** Sends calls through the interceptor, with deadline and translated errors. */
export interface KubeExchange {
  /** One attempt; for writes. */
  once(call: Call, signal?: AbortSignal): Promise<KubeResponse>;
  /** Retries as `retryRead` allows; for reads. */
  read(call: Call, signal?: AbortSignal): Promise<KubeResponse>;
  /** One attempt; answers the unread bytes with their signal. */
  stream(call: Call, signal?: AbortSignal): Promise<OpenStream>;
}

/** A response with unread bytes. */
export interface OpenStream {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly bound: BoundedSignal;
  close(): void;
}

/** Permission of a client to work, such as a leader's term. */
export interface WriteGuard {
  /** Aborts every call in flight; later calls fail with reason `Aborted`. */
  readonly signal: AbortSignal;
  /** Called just before a write is sent: false fails it as `Aborted`, although `signal` has not aborted yet. */
  readonly holds: () => boolean;
}

export interface KubeExchangeOptions {
  readonly connections: KubeConnections;
  /** The part up to the first slash is the field manager of this client's writes (default `controller-kit`). */
  readonly userAgent: string;
  /** Longest duration of a call, all attempts included (default 20 s). Streams are exempt. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onRequest?: RequestInterceptor | undefined;
  /** Guard of writes; without it every call is allowed. */
  readonly guard?: WriteGuard | undefined;
}

export function createKubeExchange(options: KubeExchangeOptions): KubeExchange {
  const { connections, clock, deadlineMs, random, guard } = options;
  const interceptor: RequestInterceptor = options.onRequest ?? ((_request, next) => next());

  async function send(call: Call, bound: BoundedSignal, isStream: boolean): Promise<Dispatcher.ResponseData> {
    // Checked when the write is sent: the lease may have been lost since the call began, also in a wait for a connection.
    const onStart = isWrite(call.verb) && guard !== undefined ? () => assertHolds(guard) : undefined;
    onStart?.();
    try {
      const request = { ...wireRequest(call, options.userAgent), signal: bound.signal, isStream, onStart };
      return await connections.send(request);
    } catch (error) {
      throw errorOfWire(error, bound.cutBy());
    }
  }

  async function attempt(call: Call, bound: BoundedSignal): Promise<KubeResponse> {
    const response = await interceptor(seen(call), async () => answered(await send(call, bound, false), bound));
    if (response.status === 401) connections.reauthenticate();
    assertAccepted(response);
    return response;
  }

  async function openStream(call: Call, bound: BoundedSignal): Promise<OpenStream> {
    let opened: Dispatcher.ResponseData["body"] | undefined;
    const close = () => {
      opened?.destroy();
      bound.release();
    };
    try {
      const response = await interceptor(seen(call), async () => {
        const raw = await send(call, bound, true);
        if (raw.statusCode >= 400) return answered(raw, bound);
        opened = raw.body;
        return { status: raw.statusCode, headers: flatHeaders(raw.headers), stream: raw.body };
      });
      if (response.status === 401) connections.reauthenticate();
      assertAccepted(response);
      if (response.stream === undefined) throw new TypeError("a request interceptor answered no stream");
      // undici ends its own stream with the signal; an interceptor's stream needs help.
      const bytes = response.stream === opened ? opened : untilAborted(response.stream, bound.signal);
      return { bytes, bound, close };
    } catch (error) {
      // The interceptor may have refused an open stream.
      close();
      throw error;
    }
  }

  const bounds = (signal?: AbortSignal) => ({ clock, deadlineMs, signals: [guard?.signal, signal] });

  return {
    once: (call, signal) => within(bounds(signal), (bound) => attempt(call, bound)),
    read: (call, signal) =>
      within(bounds(signal), (bound) => {
        const untilMs = clock.monotonicMs() + deadlineMs;
        return retryRead(() => attempt(call, bound), { clock, random, signal: bound.signal, untilMs });
      }),
    stream: (call, signal) => openStream(call, boundedSignal(bounds(signal))),
  };
}

async function* untilAborted(bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await orAborted(chunks.next(), signal);
    if (done) return;
    yield value;
  }
}

function seen({ method: _method, contentType: _contentType, accept: _accept, ...request }: Call): KubeRequest {
  return request;
}

function wireRequest(call: Call, userAgent: string): Omit<WireRequest, "signal" | "isStream"> {
  // Not URLSearchParams, which takes ten times as long on every call.
  const query = Object.entries(call.query).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${encodeURIComponent(value)}`,
  );
  return {
    method: call.method,
    path: query.length === 0 ? call.path : `${call.path}?${query.join("&")}`,
    headers: {
      accept: call.accept ?? (call.type === undefined ? "*/*" : "application/json"),
      "user-agent": userAgent,
      ...(call.body === undefined ? {} : { "content-type": call.contentType ?? "application/json" }),
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  };
}

async function answered(raw: Dispatcher.ResponseData, bound: BoundedSignal): Promise<KubeResponse> {
  let text: string;
  try {
    text = await raw.body.text();
  } catch (error) {
    throw errorOfWire(error, bound.cutBy());
  }
  await yieldIfDue();
  return { status: raw.statusCode, headers: flatHeaders(raw.headers), body: bodyOf(raw.statusCode, text) };
}

/** Error pages may be plain text: their status suffices. Other non-JSON is a broken answer. */
function bodyOf(status: number, text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    if (status >= 400) return undefined;
    // The parser's own message quotes the text, which may hold a Secret.
    throw new KubeError({ status: 0, reason: "BrokenAnswer" });
  }
}

/** @throws KubeError (Aborted) */
function assertHolds(guard: WriteGuard): void {
  if (!guard.holds()) throw new KubeError({ status: 0, reason: "Aborted" });
}
