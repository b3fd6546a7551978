import type { IngressTraffic } from "../../ports/ingress-traffic.ts";

/** Totals of a counter at one instance, by subject. */
export type Totals = ReadonlyMap<string, number>;

/** Answers of all instances at about the same time. */
export interface Reading {
  /** Names of the instances that there are. */
  readonly instances: readonly string[];
  /** Totals of those that answered. */
  readonly totals: ReadonlyMap<string, Totals>;
  /** Reason why something of it is unknown. */
  readonly failure?: unknown;
}

/** Source of readings. */
export interface CounterSource {
  /** Subjects of other namespaces may be missing. Rejects when not even the instances are known. */
  read(namespaces: ReadonlySet<string>, signal: AbortSignal): Promise<Reading>;
  namespacesOf(subject: string): readonly string[];
}

const NONE: Totals = new Map();

/**
 * Increase of each subject between two readings of an instance, as `increase` of Prometheus has it: a counter that is
 * less than before began anew, from 0. https://prometheus.io/docs/prometheus/latest/querying/functions/#increase
 */
export function increases(former: Totals, totals: Totals): Map<string, number> {
  const grown = new Map<string, number>();
  for (const [subject, total] of totals) {
    const before = former.get(subject) ?? 0;
    const increase = total < before ? total : total - before;
    if (increase > 0) grown.set(subject, increase);
  }
  return grown;
}

/**
 * Requests by the increase of counters. An instance that was not there before counts from 0, one that is gone is
 * forgotten. What a failed reading knew is kept for the next one.
 */
export function trafficOf({ read, namespacesOf }: CounterSource): IngressTraffic {
  const ending = new AbortController();
  const former = new Map<string, Totals>();
  let requests = new Map<string, number>();
  let isBegun = false;

  const add = (increase: Totals, namespaces: ReadonlySet<string>) => {
    for (const [subject, count] of increase) {
      const found = namespacesOf(subject).filter((namespace) => namespaces.has(namespace));
      for (const namespace of found) requests.set(namespace, (requests.get(namespace) ?? 0) + count);
    }
  };

  const keep = ({ instances, totals }: Reading, namespaces: ReadonlySet<string>) => {
    for (const [instance, counted] of totals) {
      add(increases(former.get(instance) ?? NONE, counted), namespaces);
      former.set(instance, counted);
    }
    for (const instance of former.keys()) if (!instances.includes(instance)) former.delete(instance);
  };

  return {
    async requestsSinceLast(namespaces, signal) {
      signal.throwIfAborted();
      const reading = await read(namespaces, AbortSignal.any([signal, ending.signal])).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
      keep(reading, namespaces);
      signal.throwIfAborted();
      if (reading.failure !== undefined) throw reading.failure;
      // Counters began long before the first reading.
      const result = isBegun ? requests : new Map<string, number>();
      isBegun = true;
      requests = new Map();
      return result;
    },
    async close() {
      ending.abort();
    },
  };
}
