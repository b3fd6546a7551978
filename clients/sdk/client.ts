import { KEYED, type Operations } from "./api.gen.ts";
import { eventsOf, type StreamEvent } from "./event-stream.ts";
import { errorOf, jsonOf, PlatformError } from "./platform-error.ts";
import { pause, type Retries, withRetries } from "./retry.ts";

/** An operation that answers once, such as `GET /api/v2/environments`. */
export type Route = { [R in keyof Operations]: "reply" extends keyof Operations[R] ? R : never }[keyof Operations];
/** An operation that answers with a stream of events. */
export type StreamRoute = Exclude<keyof Operations, Route>;
/** Input of an operation: `path`, `query` and `body`. */
export type Input<R extends keyof Operations> = Omit<Operations[R], "reply" | "event"> & CallOptions;
export type Reply<R extends Route> = Operations[R] extends { reply: infer T } ? T : never;
export type EventData<R extends StreamRoute> = Operations[R] extends { event: infer T } ? T : never;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Key for operations that take one; by default a new one for each call. A repeated key does nothing twice. */
  readonly idempotencyKey?: string | undefined;
  /** Begins a stream after the event with this id. */
  readonly after?: string | undefined;
  /** Called when the platform begins to answer a stream, at first and after each break. */
  readonly opened?: (() => void) | undefined;
}

type Arguments<R extends keyof Operations> =
  Record<never, never> extends Input<R> ? [input?: Input<R>] : [input: Input<R>];

export interface ClientOptions {
  /** Address of the platform, such as `https://eenv.example.com`. */
  readonly url: string;
  /** An API token or an ID token, or a function that returns the one for the next request. */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** Sends requests (default: the global `fetch`). */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Default: four attempts, each wait at most a minute. */
  readonly retries?: Partial<Retries>;
}

/** Calls the platform's operations by their method and path. */
export interface Client {
  /**
   * Calls an operation, with retries; returns the content of its envelope.
   *
   * @throws PlatformError when the platform refuses, or something else answers; TypeError when it can't be reached; the
   * signal's reason once it is aborted
   */
  call<R extends Route>(route: R, ...input: Arguments<R>): Promise<Reply<R>>;
  /**
   * Events of a stream, until its object is gone. A broken stream is opened again: a log continues after its last line,
   * a stream of environments begins with their current state.
   *
   * @throws PlatformError when the platform refuses; TypeError when it can't be reached; the signal's reason once it is
   * aborted
   */
  follow<R extends StreamRoute>(route: R, ...input: Arguments<R>): AsyncGenerator<StreamEvent<EventData<R>>>;
}

interface AnyInput extends CallOptions {
  readonly path?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
}

const RETRIES: Retries = { attempts: 4, longestWaitMs: 60_000 };
/** Idempotent methods: https://www.rfc-editor.org/rfc/rfc9110#name-idempotent-methods. */
const IDEMPOTENT = new Set(["GET", "PUT", "DELETE"]);
/** Pause before a normally ended stream is requested again. */
const AGAIN_MS = 1_000;

export function createClient({
  url,
  token,
  fetch: send = (request) => fetch(request),
  retries,
}: ClientOptions): Client {
  const bounds = { ...RETRIES, ...retries };

  async function request(
    target: Target,
    input: AnyInput,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const bearer = typeof token === "function" ? await token() : token;
    const body = input.body === undefined ? undefined : JSON.stringify(input.body);
    const response = await send(
      new Request(target.address, {
        method: target.method,
        headers: {
          ...headers,
          ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
          ...(body !== undefined && { "Content-Type": "application/json" }),
        },
        ...(body !== undefined && { body }),
        ...(input.signal !== undefined && { signal: input.signal }),
      }),
    );
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  async function call(route: string, input: AnyInput = {}): Promise<unknown> {
    const target = targetOf(url, route, input);
    const { signal, idempotencyKey } = input;
    const isKeyed = KEYED.has(route);
    const isRepeatable = isKeyed || IDEMPOTENT.has(target.method);
    // Browsers make UUIDs on secure pages only.
    const headers: Record<string, string> = isKeyed ? { "Idempotency-Key": idempotencyKey ?? crypto.randomUUID() } : {};
    const once = async () => {
      const answer = await jsonOf(await request(target, input, { ...headers, Accept: "application/json" }));
      // Probes answer without an envelope.
      return "data" in answer ? answer.data : answer;
    };
    return withRetries(once, { retries: bounds, isRepeatable, signal });
  }

  function opened(target: Target, input: AnyInput, last: string | undefined): Promise<Response> {
    const headers: Record<string, string> = last === undefined ? {} : { "Last-Event-ID": last };
    const open = () => request(target, input, { ...headers, Accept: "text/event-stream" });
    return withRetries(open, { retries: bounds, isRepeatable: true, signal: input.signal });
  }

  async function* follow(route: string, input: AnyInput = {}): AsyncGenerator<StreamEvent<unknown>> {
    const target = targetOf(url, route, input);
    let last = input.after;
    let response: Response | undefined = await opened(target, input, last);
    while (response?.body) {
      input.opened?.();
      for await (const event of untilBroken(response.body, input.signal)) {
        last = event.id ?? last;
        yield event;
      }
      await pause(AGAIN_MS, input.signal);
      response = await opened(target, input, last).catch(undefinedIfGone);
    }
  }

  return { call, follow } as Client;
}

/** Treats a 404 after an answer as the end of the object. */
function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof PlatformError) || error.status !== 404) throw error;
}

/** Events of one answer; they end where the connection breaks. */
async function* untilBroken(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<StreamEvent<unknown>> {
  try {
    yield* eventsOf(body);
  } catch (error) {
    signal?.throwIfAborted();
    // Error of a broken connection.
    if (!(error instanceof TypeError)) throw error;
  }
}

interface Target {
  readonly method: string;
  readonly address: URL;
}

/** @throws Error for an input that makes no address, or another operation's */
function targetOf(root: string, route: string, { path = {}, query = {} }: AnyInput): Target {
  const [method = "", template = ""] = route.split(" ");
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => segmentOf(name, String(path[name])));
  const address = new URL(`${root.replace(/\/+$/, "")}${filled}`);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) address.searchParams.set(name, String(value));
  }
  return { method, address };
}

/**
 * Dots and empty text are no segments of a path, in any encoding: https://url.spec.whatwg.org/#double-dot-path-segment.
 */
function segmentOf(name: string, value: string): string {
  if (["", ".", ".."].includes(value)) throw new Error(`${name}: '${value}' can't be a part of an address`);
  return encodeURIComponent(value);
}
