import { once } from "node:events";
import type { Request, Response } from "express";
import type { Clock } from "../../operator/ports/clock.ts";
import type { Caller } from "../auth/callers.ts";
import { HttpError } from "../errors.ts";
import type { Events, ServerEvent } from "../route.ts";

/** A caller may have so many open on this replica, and all callers together so many. */
const MOST_PER_CALLER = 5;
const MOST = 100;
/** Proxies cut what is silent for longer; half of a minute is a common patience. */
const HEARTBEAT_MS = 15_000;
/** Then the client comes again, to whichever replica, and goes on where it was. */
const LONGEST_MS = 30 * 60_000;
/** A client that reads nothing for so long is gone, whatever its connection says. */
const STALLED_MS = 60_000;
/** Where nothing is sent for so long, it is asked all the same whether the caller still may. */
const PROOF_MS = 1_000;
/** Why a stream ends that nobody refuses. */
const OVER = Symbol("over");
const RETRY_SECONDS = 15;

/** One answer that goes on. */
export interface EventAnswer {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller | undefined;
  readonly events: Events<object>;
  /** Called when it is sure that there will be events, before any is sent. */
  readonly onOpen: () => Promise<void>;
  /** Throws when the caller may not have them any longer. */
  readonly checkAccess: () => Promise<void>;
}

/** Answers that are streams of events: https://html.spec.whatwg.org/multipage/server-sent-events.html. */
export interface EventStreams {
  /**
   * Sends events until there are no more, the client goes, the process stops or half an hour is over; a client that reads
   * slowly slows down their making. The caller's rights are proved before every batch, and every second without one.
   *
   * @throws HttpError (rate-limited, unavailable) when too many are open, and whatever keeps the first ones from coming
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
      // Whoever left while the way here was paved has closed the response before anybody listened.
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
        await stream(answer, { clock, signal: end.signal, refuse: (error) => end.abort(error) });
      } finally {
        cancel();
        abort();
        stopping.removeEventListener("abort", abort);
        leave(key);
      }
    },
  };
}

interface Conduct {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Ends it with a failure. */
  readonly refuse: (error: unknown) => void;
}

async function stream(answer: EventAnswer, conduct: Conduct): Promise<void> {
  const { response, request, events, onOpen } = answer;
  const { signal } = conduct;
  const batches = events(signal)[Symbol.asyncIterator]();
  const first = await batches.next();
  await onOpen();
  response.status(200).set({ "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" }).flushHeaders();
  const stopHeart = heartbeat(response, conduct.clock);
  const stopProofs = proofs(answer, conduct);
  try {
    if (request.method !== "HEAD") await sendAll(first, batches, answer, conduct);
  } finally {
    stopHeart();
    stopProofs();
    await batches.return?.();
  }
  if (signal.aborted && signal.reason !== OVER) throw signal.reason;
  // What a stalled client has not taken would keep the connection open.
  if (response.writableNeedDrain) response.destroy();
  else response.end();
}

type Batches = AsyncIterator<readonly ServerEvent<object>[]>;

async function sendAll(
  first: Awaited<ReturnType<Batches["next"]>>,
  batches: Batches,
  { response, checkAccess }: EventAnswer,
  conduct: Conduct,
): Promise<void> {
  for (let batch = first; !batch.done && !conduct.signal.aborted; batch = await batches.next()) {
    await checkAccess();
    const text = batch.value.map(toText).join("");
    if (text !== "" && !response.write(text)) await drained(response, conduct);
    if (response.destroyed || response.writableNeedDrain) return;
  }
}

/** JSON has no line ends of its own, so that each event is these two lines. */
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

/** Ends a stream that is idle, too, when the caller may not have it any longer. */
function proofs({ checkAccess }: EventAnswer, { clock, refuse }: Conduct): () => void {
  let isStopped = false;
  let cancel: () => void;
  const wait = () => {
    if (!isStopped) cancel = clock.setTimer(PROOF_MS, () => void checkAccess().then(wait, refuse));
  };
  wait();
  return () => {
    isStopped = true;
    cancel();
  };
}

/** Resolves when the client has taken what was sent, when it will not, or when the stream is to end. */
async function drained(response: Response, { clock, signal }: Conduct): Promise<void> {
  const patience = new AbortController();
  const giveUp = () => patience.abort();
  const cancel = clock.setTimer(STALLED_MS, giveUp);
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  await once(response, "drain", { signal: patience.signal }).catch(() => undefined);
  signal.removeEventListener("abort", giveUp);
  cancel();
}
