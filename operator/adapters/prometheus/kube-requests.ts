import type { RequestInterceptor, Verb } from "../../kit/client/request.ts";
import type { MetricRegistry } from "./registry.ts";

const METHODS: Readonly<Record<Verb, string>> = {
  get: "GET",
  list: "GET",
  watch: "GET",
  version: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
};

/** Counts calls to the API server, like client-go. */
export function kubeRequestCounter(registry: MetricRegistry): RequestInterceptor {
  const total = registry.counter("rest_client_requests_total");
  return (request, next) => {
    const method = METHODS[request.verb];
    const answered = next();
    answered.then(
      ({ status }) => total.inc({ method, code: String(status) }),
      () => total.inc({ method, code: "<error>" }),
    );
    return answered;
  };
}
