import type { RequestInterceptor } from "../../kit/client/request.ts";
import type { Tracing } from "../../kit/tracing.ts";
import type { HostApi } from "../../ports/host-technology.ts";
import type { ServiceCallInterceptor } from "../../ports/metrics.ts";

/** Lowest failing status: most others, such as 404 and 409, are regular answers. */
const FAILED = 500;

/** A span per call to the API server: verb and resource, never the body or the query. */
export function kubeCallSpans(tracing: Tracing): RequestInterceptor {
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

/** A span per call of a port: the method, never its parameters. */
export function serviceCallSpans(tracing: Tracing): ServiceCallInterceptor {
  return ({ service, operation }, next) => {
    const attributes = { "peer.service": service, "rpc.method": operation };
    return tracing.span(`${service} ${operation}`, { kind: "call", attributes }, next);
  };
}

/**
 * A span per call to a host's API: the route with its placeholders, never their values. Not below Octokit, whose queue
 * sends a call in the context of another.
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
