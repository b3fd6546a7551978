import { AlwaysOnSampler, ParentBasedSampler, type Sampler, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";

/**
 * Records what belongs to a trace that its caller records, and what is linked to one that was recorded; of all other
 * traces the given part.
 */
export function sampler(ratio: number): Sampler {
  const [always, some] = [new AlwaysOnSampler(), new TraceIdRatioBasedSampler(ratio)];
  return new ParentBasedSampler({
    root: {
      shouldSample(...[context, traceId, , , , links]) {
        return links.length > 0 ? always.shouldSample() : some.shouldSample(context, traceId);
      },
      toString: () => `LinkedOr{${some}}`,
    },
  });
}
