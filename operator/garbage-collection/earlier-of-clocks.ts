import type { Clock } from "../kit/time/clock.ts";
import type { ServerClock } from "../ports/server-clock.ts";

/** What both clocks agree is past: one that is wrong ends nothing. Fails while the API server can't be asked. */
export async function earlierOfClocks(clocks: {
  readonly clock: Clock;
  readonly serverClock: ServerClock;
}): Promise<Date> {
  const [own, server] = [clocks.clock.now(), await clocks.serverClock.now()];
  return new Date(Math.min(own.getTime(), server.getTime()));
}
