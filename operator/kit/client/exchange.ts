import type { Dispatcher } from "undici";
import type { Clock } from "../time/clock.ts";
import { type BoundedSignal, boundedSignal, orAborted, within } from "../time/deadline.ts";
import { yieldIfDue } from "../time/yield-if-due.ts";
import type { KubeConnections, WireRequest } from "./connections.ts";
import { KubeError } from "./errors.ts";
import { retryRead } from "./read-retry.ts";
import { isWrite, type KubeRequest, type KubeResponse, type RequestSeam } from "./request.ts";
import { assertAccepted, errorOfWire, flatHeaders } from "./responses.ts";
import type { WriteGuard } from "./write-guard.ts";

/** One call as the client's methods describe it. */
export interface Call extends KubeRequest {
  readonly method: WireRequest["method"];
  readonly contentType?: string;
  /** The form in which the answer is wanted, unless it is plain JSON. */
  readonly accept?: string;
}

/** How calls travel: through the seam, with deadline and errors translated. */
export interface KubeExchange {
  /** Once; for writes. */
  once(call: Call, signal?: AbortSignal): Promise<KubeResponse>;
  /** As often as `read-retry` allows; for reads. */
  read(call: Call, signal?: AbortSignal): Promise<KubeResponse>;
  /** Once; answers the bytes unread, with the signal that ends them. */
  stream(call: Call, signal?: AbortSignal): Promise<OpenStream>;
}

/** A response whose bytes are still to be read. */
export interface OpenStream {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly bound: BoundedSignal;
  /** Lets go of the connection and of the signal. */
  close(): void;
}

export interface KubeExchangeOptions {
  readonly connections: KubeConnections;
  /** Up to its first slash it names this client's fields on the objects that it writes (default `controller-kit`). */
  readonly userAgent: string;
  /** The longest a call may take, all attempts included (default 20 s). Watches and their streams are exempt. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly onRequest?: RequestSeam | undefined;
  /** Without it the client may always work. */
  readonly guard?: WriteGuard | undefined;
}

export function createKubeExchange(options: KubeExchangeOptions): KubeExchange {
  const { connections, clock, deadlineMs, random, guard } = options;
  const seam: RequestSeam = options.onRequest ?? ((_request, next) => next());

  async function send(call: Call, bound: BoundedSignal, isStream: boolean): Promise<Dispatcher.ResponseData> {
    // As near to the wire as can be: the lease may have been lost since the call began.
    if (isWrite(call.verb) && guard?.holds() === false) throw new KubeError({ status: 0, reason: "Aborted" });
    try {
      return await connections.send({ ...wireRequest(call, options.userAgent), signal: bound.signal, isStream });
    } catch (error) {
      throw errorOfWire(error, bound.cutBy());
    }
  }

  async function attempt(call: Call, bound: BoundedSignal): Promise<KubeResponse> {
    const response = await seam(seen(call), async () => answered(await send(call, bound, false), bound));
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
      const response = await seam(seen(call), async () => {
        const raw = await send(call, bound, true);
        if (raw.statusCode >= 400) return answered(raw, bound);
        opened = raw.body;
        return { status: raw.statusCode, headers: flatHeaders(raw.headers), stream: raw.body };
      });
      if (response.status === 401) connections.reauthenticate();
      assertAccepted(response);
      if (response.stream === undefined) throw new TypeError("a request seam answered no stream");
      // undici ends its own stream with the signal; one of the seam's knows of none.
      const bytes = response.stream === opened ? opened : untilAborted(response.stream, bound.signal);
      return { bytes, bound, close };
    } catch (error) {
      // The seam may have refused a stream that the server had opened.
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
  // Not by URLSearchParams, which takes ten times as long: every call comes by here.
  const query = Object.entries(call.query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
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

/** Error pages may be plain text: their status says enough. Anything else that is no JSON is a broken answer. */
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
