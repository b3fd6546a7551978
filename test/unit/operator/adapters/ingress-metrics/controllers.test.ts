import { describe, expect, test } from "@jest/globals";
import { CONTROLLERS } from "../../../../../operator/adapters/ingress-metrics/controllers.ts";
import { sampleName, sampleOf } from "../../../../../operator/adapters/ingress-metrics/exposition.ts";

/** Namespaces that each sample of the counter may belong to, with its value. */
function counted(controller: keyof typeof CONTROLLERS, text: string) {
  const { isCounter, subjectOf, namespacesOf, prefix } = CONTROLLERS[controller];
  const lines = text.split("\n").map((line) => line.trim());
  expect(lines.some((line) => sampleName(line)?.startsWith(prefix))).toBe(true);
  return lines
    .filter((line) => isCounter(sampleName(line) ?? ""))
    .map(sampleOf)
    .map((sample) => sample && [namespacesOf(subjectOf(sample.labels)), sample.value]);
}

describe("Traefik", () => {
  test("counts what it passed on to a service, but neither durations nor bytes of it", () => {
    // Of Traefik 3.6.15 on the local cluster, after ten requests and the prober's.
    const text = `
      # HELP traefik_config_reloads_total Config reloads
      # TYPE traefik_config_reloads_total counter
      traefik_config_reloads_total 4
      traefik_entrypoint_requests_total{code="200",entrypoint="websecure",method="GET",protocol="http"} 14
      traefik_service_request_duration_seconds_count{code="200",method="GET",protocol="http",service="env-hello-frontend-http@kubernetes"} 12
      traefik_service_requests_bytes_total{code="200",method="GET",protocol="http",service="env-hello-backend-http@kubernetes"} 0
      # HELP traefik_service_requests_total How many HTTP requests processed on a service, partitioned by status code, protocol, and method.
      # TYPE traefik_service_requests_total counter
      traefik_service_requests_total{code="200",method="GET",protocol="http",service="env-hello-backend-http@kubernetes"} 2
      traefik_service_requests_total{code="200",method="GET",protocol="http",service="env-hello-frontend-http@kubernetes"} 12`;
    expect(counted("traefik", text)).toEqual([
      [["env", "env-hello", "env-hello-backend"], 2],
      [["env", "env-hello", "env-hello-frontend"], 12],
    ]);
  });

  // https://github.com/traefik/traefik/blob/v3.6.15/pkg/provider/kubernetes/{ingress,gateway,crd}
  test.each([
    ["an Ingress", "env-shop-web-http@kubernetes", ["env", "env-shop", "env-shop-web"]],
    [
      "an HTTPRoute",
      "env-shop-web-http-8080@kubernetesgateway",
      ["env", "env-shop", "env-shop-web", "env-shop-web-http"],
    ],
    ["an IngressRoute", "env-shop-web-80@kubernetescrd", ["env", "env-shop", "env-shop-web"]],
    ["a name without parts", "default@internal", []],
    ["nothing", "", []],
  ])("counts a service of %s for each begin that may be its namespace", (_what, service, namespaces) => {
    const line = `traefik_service_requests_total{code="200",method="GET",protocol="http",service="${service}"} 3`;
    expect(counted("traefik", line)).toEqual([[namespaces, 3]]);
  });
});

test("ingress-nginx counts by namespace, on its own endpoint and where Prometheus has renamed the label", () => {
  // https://github.com/kubernetes/ingress-nginx/blob/main/internal/ingress/metric/collectors/socket_test.go
  const text = `
    # HELP nginx_ingress_controller_requests The total number of client requests
    # TYPE nginx_ingress_controller_requests counter
    nginx_ingress_controller_requests{canary="",controller_class="ingress",controller_namespace="default",controller_pod="pod",host="testshop.com",ingress="web-yml",method="GET",namespace="test-app-production",path="/admin",service="test-app",status="200"} 1
    nginx_ingress_controller_requests{controller_namespace="default",exported_namespace="test-app-production",ingress="web-yml",namespace="ingress-nginx",path="/admin",status="200"} 2
    nginx_ingress_controller_requests{controller_namespace="default",ingress="",namespace="",path="",status="404"} 3
    nginx_ingress_controller_request_size_count{ingress="web-yml",namespace="test-app-production"} 9
    nginx_ingress_controller_nginx_process_requests_total{controller_class="ingress"} 99`;
  expect(counted("ingress-nginx", text)).toEqual([
    [["test-app-production"], 1],
    [["test-app-production"], 2],
    [[], 3],
  ]);
});

test("HAProxy counts by backend, whose name begins with the namespace in both controllers", () => {
  // https://github.com/haproxy/haproxy/blob/master/addons/promex/README,
  // https://github.com/haproxytech/kubernetes-ingress/blob/master/pkg/service/service.go (GetBackendName),
  // https://github.com/jcmoraisjr/haproxy-ingress/blob/master/pkg/haproxy/types/backends.go (buildID)
  const text = `
    # HELP haproxy_backend_http_requests_total Total number of HTTP requests received.
    # TYPE haproxy_backend_http_requests_total counter
    haproxy_backend_http_requests_total{proxy="env-shop_svc_web_http"} 1102
    haproxy_backend_http_requests_total{proxy="env-shop_web-ingress_svc_web_http"} 3
    haproxy_backend_http_requests_total{proxy="env-billing_web_8080"} 4
    haproxy_backend_http_requests_total{proxy="stats"} 0
    haproxy_backend_http_responses_total{proxy="env-shop_svc_web_http",code="1xx"} 0
    haproxy_frontend_http_requests_total{proxy="https"} 1200`;
  expect(counted("haproxy", text)).toEqual([
    [["env-shop"], 1102],
    [["env-shop"], 3],
    [["env-billing"], 4],
    [[], 0],
  ]);
});

test("Envoy Gateway counts by cluster, whose name has the route's namespace, also where a dot cuts it", () => {
  // https://github.com/envoyproxy/gateway/blob/main/site/content/en/latest/tasks/traffic/retry.md (the label),
  // https://github.com/envoyproxy/gateway/issues/9576 (a dot)
  const text = `
    # TYPE envoy_cluster_upstream_rq_total counter
    envoy_cluster_upstream_rq_total{envoy_cluster_name="httproute/env-shop/web/rule/0"} 5
    envoy_cluster_upstream_rq_total{envoy_cluster_name="grpcroute/env-shop/api/rule/0"} 6
    envoy_cluster_upstream_rq_total{envoy_cluster_name="service/env-billing/web/8080"} 7
    envoy_cluster_upstream_rq_total{envoy_cluster_name="xds_cluster"} 8
    envoy_cluster_a_example_com_rule_0_upstream_rq_total{envoy_cluster_name="httproute/env-shop/echo"} 10
    envoy_cluster_upstream_rq_retry{envoy_cluster_name="httproute/env-shop/web/rule/0"} 5
    envoy_cluster_upstream_rq_completed{envoy_cluster_name="httproute/env-shop/web/rule/0"} 5`;
  expect(counted("envoy-gateway", text)).toEqual([
    [["env-shop"], 5],
    [["env-shop"], 6],
    [["env-billing"], 7],
    [[], 8],
    [["env-shop"], 10],
  ]);
});
