import { expect, test } from "@jest/globals";
import { environmentType } from "../../../../../operator/adapters/kubernetes/kinds.ts";
import type { KubeRequest } from "../../../../../operator/kit/client/request.ts";
import {
  hostCallSpans,
  kubeCallSpans,
  serviceCallSpans,
} from "../../../../../operator/wiring/observation/call-spans.ts";
import { receivedSpans } from "../../../../support/tracing/received-spans.ts";

const inRequest = { kind: "request" } as const;

test("a call to the API server says its verb, its resource and its status, and nothing that it carries", async () => {
  const { tracing, received } = await receivedSpans();
  const interceptor = kubeCallSpans(tracing);
  const call = (request: Partial<KubeRequest>, status: number) =>
    interceptor(
      { verb: "get", path: "/secret-path", query: { fieldSelector: "secret-query" }, body: "secret-body", ...request },
      async () => ({ status, headers: { token: "secret-header" }, body: "secret-answer" }),
    );
  await tracing.span("GET", inRequest, async () => {
    expect(
      await call({ type: environmentType, name: "shop", subresource: "status", verb: "patch" }, 409),
    ).toMatchObject({ status: 409, body: "secret-answer" });
    await call({}, 503);
  });
  const spans = await received();
  expect(spans.map(({ name, attributes, isFailed }) => [name, attributes, isFailed])).toEqual([
    [
      "patch ephemeralenvironments/status",
      {
        "k8s.api.verb": "patch",
        "k8s.api.resource": "ephemeralenvironments/status",
        "k8s.api.name": "shop",
        "http.response.status_code": 409,
      },
      false,
    ],
    ["get", { "k8s.api.verb": "get", "http.response.status_code": 503, "error.type": "503" }, true],
    ["GET", {}, false],
  ]);
  expect(JSON.stringify(spans)).not.toContain("secret");
});

test("a call of a service says its method, and one to a host its route with braces", async () => {
  const { tracing, received } = await receivedSpans();
  const { signal } = new AbortController();
  const answer = { items: [], next: undefined };
  const api = hostCallSpans(tracing, "github", {
    request: async <T>() => "made" as T,
    page: async <T>() => answer as { items: T; next: undefined },
    close: async () => undefined,
  });
  await tracing.span("GET", inRequest, async () => {
    const call = { service: "secret-manager", operation: "read" } as const;
    expect(await serviceCallSpans(tracing)(call, async () => "hidden")).toBe("hidden");
    expect(await api.request("POST /repos/{owner}/{repo}", { owner: "hidden" }, signal)).toBe("made");
    expect(await api.page("GET /repos/{owner}/{repo}/pulls", { owner: "hidden" }, signal)).toBe(answer);
  });
  const spans = await received();
  expect(spans.map(({ name }) => name)).toEqual([
    "secret-manager read",
    "POST /repos/{owner}/{repo}",
    "GET /repos/{owner}/{repo}/pulls",
    "GET",
  ]);
  expect(spans[1]?.attributes).toMatchObject({ "peer.service": "repository-host", "ephemeral.host": "github" });
  expect(JSON.stringify(spans)).not.toContain("hidden");
});
