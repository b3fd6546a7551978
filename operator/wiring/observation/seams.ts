import type { Service, ServiceCallSeam } from "../../ports/observability/metrics.ts";

type Seam<C, R> = (call: C, next: () => Promise<R>) => Promise<R>;

/** Both interceptors: the outer one sees the inner one's result. */
export function around<C, R>(outer: Seam<C, R> | undefined, inner: Seam<C, R> | undefined): Seam<C, R> | undefined {
  if (outer === undefined || inner === undefined) return outer ?? inner;
  return (call, next) => outer(call, () => inner(call, next));
}

/** A port whose methods all return promises. */
type Remote<P> = { readonly [M in keyof P]: P[M] extends (...given: never[]) => Promise<unknown> ? P[M] : never };

/** Wraps a port with the interceptor. */
export type Observe = <P extends Remote<P> & object>(service: Service, port: P) => P;

/** Creates the wrapper for ports. */
export function observing(seam: ServiceCallSeam | undefined): Observe {
  return (service, port) => {
    if (seam === undefined) return port;
    return new Proxy(port, {
      get(target, operation) {
        const found: unknown = Reflect.get(target, operation);
        if (typeof found !== "function" || typeof operation === "symbol") return found;
        return (...given: unknown[]) => seam({ service, operation }, async () => Reflect.apply(found, target, given));
      },
    });
  };
}
