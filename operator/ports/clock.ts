/** Time, replaceable in tests: the kit's type, where the API may import it. */
export type { Clock } from "../kit/time/clock.ts";

/**
 * The API server's clock. An environment expires only when this clock and the operator's agree: one wrong clock must
 * delete nothing.
 */
export interface ServerClock {
  /** @throws the kit's KubeError when the API server is unreachable */
  now(): Promise<Date>;
}
