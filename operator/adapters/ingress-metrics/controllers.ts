import type { IngressController } from "../../../config/activity.schema.ts";
import type { Labels } from "./exposition.ts";

/** An ingress controller's counter of requests, and what its labels mean. */
export interface ControllerMetrics {
  /** Begin of the names of its metrics, some of which are there from its start on. */
  readonly prefix: string;
  /** The counter's name, for people. */
  readonly counter: string;
  /** True for the counter's samples. */
  isCounter(name: string): boolean;
  /** Subject of a sample, such as a service: what appears and disappears as a whole. Samples of one are added. */
  subjectOf(labels: Labels): string;
  /** Namespaces that the subject may belong to: several where its name leaves that open, none of the controller's own. */
  namespacesOf(subject: string): readonly string[];
}

/** Rows for each controller. */
export const CONTROLLERS: Readonly<Record<IngressController, ControllerMetrics>> = {
  /**
   * Services are `<namespace>-<service>-<port>@kubernetes`, of HTTPRoutes `<namespace>-<service>-http-<port>@kubernetesgateway`,
   * of IngressRoutes `<namespace>-<service>-<port>@kubernetescrd`; hyphens in a row become one, which namespaces of
   * environments have not. All parts may have hyphens, so each begin before one may be the namespace: too much activity
   * is the safe error. The series of a service that no route has are deleted.
   *
   * https://github.com/traefik/traefik/blob/v3.6.15/pkg/observability/metrics/prometheus.go (name, labels, deletion),
   * …/pkg/provider/kubernetes/ingress/kubernetes.go#L365, …/pkg/provider/kubernetes/gateway/httproute.go#L231,
   * …/pkg/provider/kubernetes/crd/kubernetes_http.go#L747
   */
  traefik: {
    prefix: "traefik_",
    ...named("traefik_service_requests_total"),
    subjectOf: (labels) => labels.get("service") ?? "",
    namespacesOf: beginsOf,
  },
  /**
   * The label is `namespace`, or `exported_namespace` where a Prometheus between renamed it. The series of
   * an Ingress are deleted with it.
   *
   * https://github.com/kubernetes/ingress-nginx/blob/main/internal/ingress/metric/collectors/socket.go
   */
  "ingress-nginx": {
    prefix: "nginx_ingress_controller_",
    ...named("nginx_ingress_controller_requests"),
    subjectOf: (labels) =>
      `${labels.get("exported_namespace") ?? labels.get("namespace") ?? ""}/${labels.get("ingress") ?? ""}`,
    namespacesOf: (subject) => subject.split("/", 1).filter((namespace) => namespace !== ""),
  },
  /**
   * Backends are `<namespace>_svc_<service>_<port>`, with `standalone-backend` `<namespace>_<ingress>_svc_…`, or, of
   * HAProxy Ingress, `<namespace>_<service>_<port>`. No name of Kubernetes has an underscore.
   *
   * https://github.com/haproxytech/kubernetes-ingress/blob/master/pkg/service/service.go (GetBackendName),
   * https://github.com/jcmoraisjr/haproxy-ingress/blob/master/pkg/haproxy/types/backends.go (buildID),
   * https://github.com/haproxy/haproxy/blob/master/addons/promex/README (name, label)
   */
  haproxy: {
    prefix: "haproxy_",
    ...named("haproxy_backend_http_requests_total"),
    subjectOf: (labels) => labels.get("proxy") ?? "",
    namespacesOf: (subject) => (subject.includes("_") ? subject.split("_", 1) : []),
  },
  /**
   * Clusters are `httproute/<namespace>/<route>/rule/<n>`, of gRPC `grpcroute/…`, and with merged backends
   * `service/<namespace>/<service>/<port>`. Of a name with a dot, Envoy takes the rest for a part of the metric's name:
   * `envoy_cluster_example_com_rule_0_upstream_rq_total{envoy_cluster_name="httproute/<namespace>/www"}`. An attempt that
   * is repeated counts each time. With `clusterStatName` the names are others.
   *
   * https://github.com/envoyproxy/gateway/blob/main/internal/gatewayapi/helpers.go (irRouteDestinationName,
   * irBackendClusterName), https://github.com/envoyproxy/envoy/issues/5239, https://github.com/envoyproxy/gateway/issues/9576,
   * https://www.envoyproxy.io/docs/envoy/latest/configuration/upstream/cluster_manager/cluster_stats (upstream_rq_total)
   */
  "envoy-gateway": {
    prefix: "envoy_",
    counter: "envoy_cluster_upstream_rq_total",
    isCounter: (name) => name.startsWith("envoy_cluster_") && name.endsWith("_upstream_rq_total"),
    subjectOf: (labels) => labels.get("envoy_cluster_name") ?? "",
    namespacesOf: (subject) => subject.split("/", 2).slice(1),
  },
};

function named(counter: string) {
  return { counter, isCounter: (name: string) => name === counter };
}

/** Each begin of a service's name that ends before a hyphen. */
function beginsOf(subject: string): readonly string[] {
  const [service = ""] = subject.split("@", 1);
  return Array.from(service.matchAll(/-/g), ({ index }) => service.slice(0, index));
}
