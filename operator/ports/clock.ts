/** Time as the platform sees it, so that tests can own it: the kit's own type, where the facade may import it from. */
export type { Clock } from "../kit/time/clock.ts";

/**
 * The API server's own clock. An environment is deleted because its time is up only when this clock and the
 * operator's agree: one wrong clock must not delete anything.
 */
export interface ServerClock {
  /** @throws the kit's KubeError when the API server can't be asked */
  now(): Promise<Date>;
}
