/** Structured logging: the kit's own, where the facade may import it from. */
export { type Log, withLogFacts } from "../kit/log.ts";
