import { useEffect, useState } from "preact/hooks";
import { type EventData, type Input, PlatformError, type StreamEvent, type StreamRoute } from "../../sdk/index.ts";
import { platform } from "./client.ts";

/** State of a stream: `over` when its object is gone. */
export type StreamState = "connecting" | "live" | "interrupted" | "over" | { readonly error: unknown };

export interface Listener<R extends StreamRoute> {
  event(data: EventData<R>): void;
  state(state: StreamState): void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/**
 * Follows a stream while the page is visible: a hidden page holds no connection, and later continues after the last
 * event. Retries without end. The returned function ends it.
 */
export function keepFollowing<R extends StreamRoute>(route: R, input: Input<R>, listener: Listener<R>): () => void {
  let last: string | undefined;
  let current = new AbortController();
  let isOver = false;

  const follow = platform.follow as (route: R, input: Input<R>) => AsyncGenerator<StreamEvent<EventData<R>>>;

  async function followOnce(signal: AbortSignal, opened: () => void): Promise<StreamState> {
    try {
      const events = follow(route, { ...input, signal, opened, ...(last !== undefined && { after: last }) });
      for await (const { id, data } of events) {
        last = id ?? last;
        listener.event(data);
      }
      return "over";
    } catch (error) {
      return stateAfter(error);
    }
  }

  async function run({ signal }: AbortController): Promise<void> {
    for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      const state = await followOnce(signal, () => {
        waitMs = FIRST_WAIT_MS;
        listener.state("live");
      });
      if (signal.aborted) return;
      listener.state(state);
      if (state !== "interrupted") {
        isOver = true;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }

  const onVisibility = () => {
    if (document.visibilityState === "hidden") return current.abort();
    if (!current.signal.aborted || isOver) return;
    current = new AbortController();
    void run(current);
  };
  document.addEventListener("visibilitychange", onVisibility);
  listener.state("connecting");
  void run(current);
  return () => {
    document.removeEventListener("visibilitychange", onVisibility);
    current.abort();
  };
}

function stateAfter(error: unknown): StreamState {
  if (!(error instanceof PlatformError)) return error instanceof TypeError ? "interrupted" : { error };
  if (error.status === 404) return "over";
  return error.status === 429 || error.status >= 500 ? "interrupted" : { error };
}

/** Follows a stream while the component is mounted. */
export function useFollowing<R extends StreamRoute>(
  route: R,
  input: Input<R>,
  event: (data: EventData<R>) => void,
): StreamState {
  const [state, setState] = useState<StreamState>("connecting");
  useEffect(() => keepFollowing(route, input, { event, state: setState }), [route, JSON.stringify(input)]);
  return state;
}
