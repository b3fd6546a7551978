/** Tracing: the kit's own, where the API may import it. */
export { noTracing, type Span, type Tracing } from "../../kit/tracing.ts";
