import type { KubeClient } from "../../operator/kit/client/kube-client.ts";
import type { KubeObject, ResourceType } from "../../operator/kit/client/objects.ts";

export interface Awaited {
  readonly type: ResourceType;
  readonly is: (object: KubeObject) => boolean;
}

/** Running watches, and the times (on `performance.now()`) of their awaited events, in the requested order. */
export interface Arrivals {
  times(deadlineMs: number): Promise<readonly number[]>;
}

/** Begins to watch before the measurement, so that an event is seen when the API server sends it. */
export async function arrivals(client: KubeClient, awaited: readonly Awaited[]): Promise<Arrivals> {
  const stop = new AbortController();
  const watching = await Promise.all(
    awaited.map(async ({ type, is }) => {
      const { resourceVersion } = await client.list(type);
      const events = client.watch(type, { resourceVersion, timeoutSeconds: 300, signal: stop.signal });
      return firstOf(events, is);
    }),
  );
  return {
    async times(deadlineMs) {
      const deadline = setTimeout(() => stop.abort(), deadlineMs);
      try {
        return await Promise.all(watching.map((arrival) => arrival.at));
      } finally {
        clearTimeout(deadline);
        stop.abort();
      }
    },
  };
}

/** Wrapped, because awaiting the outer promise must not await the arrival itself. */
function firstOf(events: AsyncIterable<{ object: KubeObject }>, is: Awaited["is"]): { at: Promise<number> } {
  const at = (async () => {
    for await (const { object } of events) if (is(object)) return performance.now();
    throw new Error("the awaited event did not come in time");
  })();
  // Handled where the times are awaited.
  at.catch(() => undefined);
  return { at };
}
