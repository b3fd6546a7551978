import type { RequestSeam } from "../../kit/client/request.ts";
import type { Tracing } from "../../kit/tracing.ts";
import type { HostApi } from "../../ports/host-technology.ts";
import type { ServiceCallSeam } from "../../ports/observability/metrics.ts";

/** From here on an answer is a failure: most others, such as 404 and 409, are what the caller wants to know. */
const FAILED = 500;

/** A span for each call to the API server: which verb on what, never the body or the query. */
export function kubeCallSpans(tracing: Tracing): RequestSeam {
  return ({ verb, type, subresource, namespace, name }, next) => {
    const resource = [type?.plural, subresource].filter(Boolean).join("/");
    const attributes = {
      "k8s.api.verb": verb,
      "k8s.api.resource": resource || undefined,
      "k8s.api.namespace": namespace,
      "k8s.api.name": name,
    };
    return tracing.span(`${verb} ${resource}`.trim(), { kind: "call", attributes }, async (span) => {
      const response = await next();
      span.set({ "http.response.status_code": response.status });
      if (response.status >= FAILED) span.failed(String(response.status));
      return response;
    });
  };
}

/** A span for each call of a port: which method, never its parameters. */
export function serviceCallSpans(tracing: Tracing): ServiceCallSeam {
  return ({ service, operation }, next) => {
    const attributes = { "peer.service": service, "rpc.method": operation };
    return tracing.span(`${service} ${operation}`, { kind: "call", attributes }, next);
  };
}

/**
 * A span for each call to the API of a host: the route with its braces, never what stands for them. Here and not below
 * Octokit, whose queue sends a call in the context of another one.
 */
export function hostCallSpans(tracing: Tracing, host: string, api: HostApi): HostApi {
  const spanOf = <T>(route: string, send: () => Promise<T>) => {
    const attributes = { "peer.service": "repository-host", "ephemeral.host": host, "url.template": route };
    return tracing.span(route, { kind: "call", attributes }, send);
  };
  return {
    request: (route, ...rest) => spanOf(route, () => api.request(route, ...rest)),
    page: (route, ...rest) => spanOf(route, () => api.page(route, ...rest)),
    close: () => api.close(),
  };
}
