import type { Clock } from "../../../../operator/kit/time/clock.ts";
import type { Event, EventRecorder } from "../../../../operator/ports/event-recorder.ts";

const HOUR_MS = 3_600_000;
const MESSAGE_MAX_LENGTH = 1024;

/** What was told, without a place to tell it; keeps the promises of the port that `eventRecorderSuite` asks of the adapter. */
export interface MemoryEventRecorder extends EventRecorder {
  list(): readonly Event[];
}

export function memoryEventRecorder(clock: Clock): MemoryEventRecorder {
  const told = new Map<string, Event>();
  return {
    publish({ type, reason, message }) {
      const hour = Math.floor(clock.now().getTime() / HOUR_MS);
      const isLong = message.length > MESSAGE_MAX_LENGTH;
      const clipped = isLong ? `${message.slice(0, MESSAGE_MAX_LENGTH - 1)}…` : message;
      const key = JSON.stringify([reason, message, hour]);
      if (!told.has(key)) told.set(key, { type, reason, message: clipped });
    },
    list: () => [...told.values()],
  };
}
