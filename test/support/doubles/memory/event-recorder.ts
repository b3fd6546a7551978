import { HOUR_MS } from "../../../../crds/durations.ts";
import type { Clock } from "../../../../operator/kit/time/clock.ts";
import { type TokenBucket, tokenBucket } from "../../../../operator/kit/time/rate-limits.ts";
import type { Event, EventRecorder } from "../../../../operator/ports/event-recorder.ts";

/** An event in readers' form. */
export interface RecordedEvent extends Event {
  readonly environment?: string;
  /** Occurrences within the hour. */
  readonly count: number;
}

/** Events in memory; fulfils `eventRecorderSuite`. */
export interface MemoryEventRecorder extends EventRecorder {
  list(): readonly RecordedEvent[];
}

const MESSAGE_MAX_BYTES = 1024;

export function memoryEventRecorder(clock: Clock): MemoryEventRecorder {
  const reported = new Map<string, { readonly event: RecordedEvent; readonly at: number; count: number }[]>();
  const budgets = new Map<string, TokenBucket>();
  const mayTell = (uid: string) => {
    const budget = budgets.get(uid) ?? tokenBucket(clock, 1 / 60, 20 * 60);
    budgets.set(uid, budget);
    return budget.take();
  };
  return {
    publish(event, environment) {
      const at = clock.now().getTime();
      if (environment !== undefined && !mayTell(environment.uid)) return;
      const key = JSON.stringify([environment?.uid, event.reason, event.message]);
      const known = reported.get(key) ?? [];
      reported.set(key, known);
      const latest = known.at(-1);
      if (latest !== undefined && at - latest.at < HOUR_MS) latest.count += 1;
      else known.push({ event: recorded(event, environment?.name), at, count: 1 });
    },
    list: () => [...reported.values()].flat().map(({ event, count }) => ({ ...event, count })),
  };
}

function recorded(event: Event, environment: string | undefined): RecordedEvent {
  const about = environment === undefined ? {} : { environment };
  let message = event.message;
  while (Buffer.byteLength(message) > MESSAGE_MAX_BYTES) message = `${message.replace(/.…?$/u, "")}…`;
  return { ...event, ...about, message, count: 1 };
}
