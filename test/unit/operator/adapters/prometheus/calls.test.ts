import { expect, test } from "@jest/globals";
import { prometheusMetrics } from "../../../../../operator/adapters/prometheus/metrics.ts";
import type { KubeRequest } from "../../../../../operator/kit/client/request.ts";
import { scraped, scrapedOf } from "./scraped.ts";

test("requests are counted by route and status, and streams do not count as slow", async () => {
  const metrics = prometheusMetrics();
  const { requests } = metrics;
  const get = { method: "GET", route: "/environments/{id}", status: 200, durationMs: 20, isStream: false };
  for (let number = 0; number < 5; number += 1) requests.begun();
  requests.ended(get);
  requests.ended({ ...get, status: 404 });
  requests.ended({ ...get, route: "/environments/{id}/logs", durationMs: 3_600_000, isStream: true });
  requests.ended({ ...get, method: "PROPFIND", route: undefined, status: 404 });
  expect(await scrapedOf(metrics, "http_requests")).toEqual({
    'http_requests_total{method="GET",route="/environments/{id}",code="200"}': 1,
    'http_requests_total{method="GET",route="/environments/{id}",code="404"}': 1,
    'http_requests_total{method="GET",route="/environments/{id}/logs",code="200"}': 1,
    'http_requests_total{method="other",route="none",code="404"}': 1,
    http_requests_in_flight: 1,
  });
  expect(await scrapedOf(metrics, "http_request_duration_seconds_count")).toEqual({
    'http_request_duration_seconds_count{method="GET",route="/environments/{id}"}': 2,
    'http_request_duration_seconds_count{method="other",route="none"}': 1,
  });
});

test("calls to the API server are counted by method and status, also those without an answer", async () => {
  const metrics = prometheusMetrics();
  const request = (verb: KubeRequest["verb"]): KubeRequest => ({ verb, path: "/api", query: {} });
  const answer = { status: 201, headers: {} };
  expect(await metrics.onKubeRequest(request("create"), async () => answer)).toBe(answer);
  await metrics.onKubeRequest(request("list"), async () => ({ status: 429, headers: {} }));
  const lost = new Error("the connection was lost");
  await expect(metrics.onKubeRequest(request("watch"), () => Promise.reject(lost))).rejects.toBe(lost);
  expect(await scrapedOf(metrics, "rest_client_requests_total")).toEqual({
    'rest_client_requests_total{method="POST",code="201"}': 1,
    'rest_client_requests_total{method="GET",code="429"}': 1,
    'rest_client_requests_total{method="GET",code="<error>"}': 1,
  });
});

test("calls of services are counted, and answer what they would", async () => {
  const metrics = prometheusMetrics();
  const call = { service: "secret-manager", operation: "read" } as const;
  const absent = new RangeError("it is not there");
  expect(await metrics.onServiceCall(call, async () => "value")).toBe("value");
  await expect(metrics.onServiceCall(call, () => Promise.reject(absent))).rejects.toBe(absent);
  expect(await scrapedOf(metrics, "ephemeral_service_calls_total")).toEqual({
    'ephemeral_service_calls_total{service="secret-manager",operation="read",outcome="ok"}': 1,
    'ephemeral_service_calls_total{service="secret-manager",operation="read",outcome="error"}': 1,
  });
  const seconds = 'ephemeral_service_call_duration_seconds_count{service="secret-manager",operation="read"}';
  expect((await scraped(metrics)).get(seconds)).toBe(2);
});
