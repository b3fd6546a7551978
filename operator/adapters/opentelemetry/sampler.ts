import { AlwaysOnSampler, ParentBasedSampler, type Sampler, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";

/** Records traces that the caller records or that link to a recorded one, and of all others the given ratio. */
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
