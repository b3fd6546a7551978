/** Structured logging: the kit's own, where the API may import it. */
export { type Log, withLogFacts } from "../kit/log.ts";
