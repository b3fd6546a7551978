import type { Clock, ServerClock } from "../../ports/clock.ts";

/** The earlier of both clocks, so that one wrong clock ends nothing. Rejects while the API server is unavailable. */
export async function earlierOfClocks(clocks: {
  readonly clock: Clock;
  readonly serverClock: ServerClock;
}): Promise<Date> {
  const [own, server] = [clocks.clock.now(), await clocks.serverClock.now()];
  return new Date(Math.min(own.getTime(), server.getTime()));
}
