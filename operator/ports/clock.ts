/** Time as the platform sees it, so that tests can own it: the kit's own type, where the facade may import it from. */
export type { Clock } from "../kit/time/clock.ts";
