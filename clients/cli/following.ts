import { type EventData, type Input, PlatformError, type StreamEvent, type StreamRoute } from "../sdk/index.ts";
import { pause } from "../sdk/retry.ts";
import type { Context } from "./context.ts";

type Followed<R extends StreamRoute> = Input<R> & { readonly signal: AbortSignal };
type Follow<R extends StreamRoute> = (route: R, input: Input<R>) => AsyncGenerator<StreamEvent<EventData<R>>>;

/** Least pause after the client's own retries. */
const AGAIN_MS = 2_000;

/**
 * Events of a stream until its object is gone. Once it was open, a platform that does not answer is waited for until the
 * signal aborts: a wait or a log outlasts its restart.
 *
 * @throws what a first request refuses; a refusal that does not pass; the signal's reason
 */
export async function* followed<R extends StreamRoute>(
  context: Context,
  route: R,
  input: Followed<R>,
): AsyncGenerator<StreamEvent<EventData<R>>> {
  const follow = context.client().follow as Follow<R>;
  const at: Position = { isOpened: false, last: undefined };
  while (true) {
    const pauseMs = yield* untilInterrupted(follow, route, input, at);
    if (pauseMs === undefined) return;
    context.say("The platform does not answer; trying again.");
    await pause(pauseMs, input.signal);
  }
}

interface Position {
  isOpened: boolean;
  /** Id of the last event. */
  last: string | undefined;
}

/** Follows until the object is gone; answers the pause after which to go on where it was interrupted, in milliseconds. */
async function* untilInterrupted<R extends StreamRoute>(
  follow: Follow<R>,
  route: R,
  input: Followed<R>,
  at: Position,
): AsyncGenerator<StreamEvent<EventData<R>>, number | undefined> {
  const opened = () => {
    at.isOpened = true;
  };
  try {
    for await (const event of follow(route, { ...input, opened, ...(at.last !== undefined && { after: at.last }) })) {
      at.last = event.id ?? at.last;
      yield event;
    }
    return undefined;
  } catch (error) {
    input.signal.throwIfAborted();
    if (at.isOpened && isGone(error)) return undefined;
    if (at.isOpened && mayPass(error)) return Math.max(AGAIN_MS, requestedMs(error));
    throw error;
  }
}

const isGone = (error: unknown) => error instanceof PlatformError && error.status === 404;

const requestedMs = (error: unknown) => (error instanceof PlatformError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0);

/** True for no answer, and for one of an overloaded or failing platform. */
function mayPass(error: unknown): boolean {
  // The error of fetch has a cause.
  if (!(error instanceof PlatformError)) return error instanceof TypeError && error.cause !== undefined;
  return error.status === 429 || error.status >= 500;
}
