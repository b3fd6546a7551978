import { once } from "node:events";
import type { Request, Response } from "express";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { Caller } from "../auth/access.ts";
import { HttpError } from "../errors.ts";
import type { Events, ServerEvent } from "../route.ts";

/** Open streams on this replica: of one caller, and in all. */
const MOST_PER_CALLER = 20;
const MOST = 500;
/** Proxies close silent connections; many do after half a minute. */
const HEARTBEAT_MS = 15_000;
/** Time until the client reconnects, to any replica, and continues. */
const LONGEST_MS = 30 * 60_000;
/** Time without reads after which a client counts as gone. */
const STALLED_MS = 60_000;
/** Interval of the checks of an idle stream's caller. */
const ACCESS_CHECK_MS = 1_000;
const OVER = Symbol("over");
const RETRY_SECONDS = 15;

/** A streamed answer. */
export interface EventAnswer {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller | undefined;
  readonly events: Events<object>;
  /** Called with the first batch, before anything is sent. */
  readonly onOpen: () => Promise<void>;
  /** Throws when the caller may no longer read the events. */
  readonly checkAccess: () => Promise<void>;
}

/** Answers that are streams of events: https://html.spec.whatwg.org/multipage/server-sent-events.html. */
export interface EventStreams {
  /**
   * Sends events until there are no more, the client disconnects, the process stops or half an hour is over; a slow
   * reader slows down the source. The caller's rights are checked before each send, and every second.
   *
   * @throws HttpError (rate-limited, unavailable) when too many are open, and the errors of the first batch
   */
  send(answer: EventAnswer): Promise<void>;
}

export function createEventStreams({ clock, stopping }: { clock: Clock; stopping: AbortSignal }): EventStreams {
  const open = new Map<string, number>();
  let count = 0;
  const enter = (key: string) => {
    if (stopping.aborted) throw new HttpError("unavailable", "The service is stopping", { retryAfterSeconds: 1 });
    const own = open.get(key) ?? 0;
    if (own >= MOST_PER_CALLER) {
      const detail = `At most ${MOST_PER_CALLER} streams at once`;
      throw new HttpError("rate-limited", detail, { retryAfterSeconds: RETRY_SECONDS });
    }
    if (count >= MOST) throw new HttpError("unavailable", "Too many streams", { retryAfterSeconds: RETRY_SECONDS });
    open.set(key, own + 1);
    count += 1;
  };
  const leave = (key: string) => {
    const left = (open.get(key) ?? 0) - 1;
    if (left > 0) open.set(key, left);
    else open.delete(key);
    count -= 1;
  };
  return {
    async send(answer) {
      // The client may have disconnected before anything listened.
      if (answer.response.destroyed) return;
      // A person may have many API tokens.
      const key = answer.caller?.subject ?? "";
      enter(key);
      const end = new AbortController();
      const abort = () => end.abort(OVER);
      stopping.addEventListener("abort", abort, { once: true });
      answer.response.once("close", abort);
      const cancel = clock.setTimer(LONGEST_MS, abort);
      try {
        await stream(answer, { clock, signal: end.signal, fail: (error) => end.abort(error) });
      } finally {
        cancel();
        abort();
        stopping.removeEventListener("abort", abort);
        leave(key);
      }
    },
  };
}

interface StreamContext {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly fail: (error: unknown) => void;
}

async function stream(answer: EventAnswer, context: StreamContext): Promise<void> {
  const { response, request, events, onOpen } = answer;
  const { signal } = context;
  const batches = events(signal)[Symbol.asyncIterator]();
  const first = await batches.next();
  await onOpen();
  response.status(200).set({ "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" }).flushHeaders();
  const stopHeart = heartbeat(response, context.clock);
  const stopChecks = regularChecks(answer, context);
  try {
    if (request.method !== "HEAD") await sendAll(first, batches, answer, context);
  } finally {
    stopHeart();
    stopChecks();
    await batches.return?.();
  }
  if (signal.aborted && signal.reason !== OVER) throw signal.reason;
  // Unsent data of a stalled client would keep the connection open.
  if (response.writableNeedDrain) response.destroy();
  else response.end();
}

type Batches = AsyncIterator<readonly ServerEvent<object>[]>;

async function sendAll(
  first: Awaited<ReturnType<Batches["next"]>>,
  batches: Batches,
  { response, checkAccess }: EventAnswer,
  context: StreamContext,
): Promise<void> {
  for (let batch = first; !batch.done && !context.signal.aborted; batch = await batches.next()) {
    const text = batch.value.map(toText).join("");
    if (text !== "") {
      await checkAccess();
      if (!response.write(text)) await drained(response, context);
    }
    if (response.destroyed || response.writableNeedDrain) return;
  }
}

/** JSON has no line ends, so each event is these two lines. */
const toText = ({ id, data }: ServerEvent<object>) => `id: ${id}\ndata: ${JSON.stringify(data)}\n\n`;

function heartbeat(response: Response, clock: Clock): () => void {
  let cancel: () => void;
  const beat = () => {
    if (!response.writableNeedDrain) response.write(": still here\n\n");
    cancel = clock.setTimer(HEARTBEAT_MS, beat);
  };
  cancel = clock.setTimer(HEARTBEAT_MS, beat);
  return () => cancel();
}

/** Checks access regularly: an idle stream ends, too, when the caller may no longer read it. */
function regularChecks({ checkAccess }: EventAnswer, { clock, fail }: StreamContext): () => void {
  let isStopped = false;
  let cancel: () => void;
  const wait = () => {
    if (!isStopped) cancel = clock.setTimer(ACCESS_CHECK_MS, () => void checkAccess().then(wait, fail));
  };
  wait();
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Resolves when the client has read everything or stalled, or at the stream's end. */
async function drained(response: Response, { clock, signal }: StreamContext): Promise<void> {
  const patience = new AbortController();
  const giveUp = () => patience.abort();
  const cancel = clock.setTimer(STALLED_MS, giveUp);
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  await once(response, "drain", { signal: patience.signal }).catch(() => undefined);
  signal.removeEventListener("abort", giveUp);
  cancel();
}
