import { type IngressTraffic, IngressTrafficUnavailable } from "../../../../operator/ports/ingress-traffic.ts";

export interface MemoryIngressTraffic extends IngressTraffic {
  /** Requests that the ingress passed on from the last reading on. */
  passesOn(namespace: string, count: number): void;
  /** Makes readings fail, or succeed again. */
  fails(isFailing: boolean): void;
}

/** An in-memory ingress; fulfils `ingressTrafficSuite`. */
export function memoryIngressTraffic(): MemoryIngressTraffic {
  let passedOn = new Map<string, number>();
  let isBegun = false;
  let isFailing = false;
  return {
    passesOn: (namespace, count) => void passedOn.set(namespace, (passedOn.get(namespace) ?? 0) + count),
    fails(next) {
      isFailing = next;
    },
    async requestsSinceLast(namespaces, signal) {
      signal.throwIfAborted();
      if (isFailing) throw new IngressTrafficUnavailable("it does not answer");
      const requests = isBegun ? [...passedOn].filter(([namespace]) => namespaces.has(namespace)) : [];
      isBegun = true;
      passedOn = new Map();
      return new Map(requests);
    },
    close: async () => undefined,
  };
}
