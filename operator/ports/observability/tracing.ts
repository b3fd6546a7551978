/** Tracing: the kit's own, where the facade may import it from. */
export { noTracing, type Span, type Tracing } from "../../kit/tracing.ts";
