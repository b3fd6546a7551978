/** Structured logging: the kit's own type, where the facade may import it from. */
export type { Log } from "../kit/log.ts";
