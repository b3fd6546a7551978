import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";
import { receivedSpans, type TracedWork } from "../../support/tracing/received-spans.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";

let service: ApiService;
let traced: TracedWork;
beforeEach(async () => {
  traced = await receivedSpans();
  service = await startApiService({ tracing: traced.tracing });
});
afterEach(() => service.stop());

const answered = () => service.log.filter(({ message }) => message === "request answered").map(({ facts }) => facts);

test("a request is a span of its caller's trace, which its log line names; the path and the query are not in it", async () => {
  const authorization = await service.bearer("developer");
  const headers = { authorization, traceparent: `00-${TRACE}-${CALLER}-01`, "x-request-id": "asked" };
  await service.http.get("/api/environments/hidden-name?wanted=hidden-query").set(headers).expect(404);
  const [span, ...others] = await traced.received();
  expect(others).toEqual([]);
  expect(span).toMatchObject({
    traceId: TRACE,
    parentSpanId: CALLER,
    name: "GET /api/environments/{environment_id}",
    isFailed: false,
  });
  expect(span?.attributes).toEqual({
    ...{
      "http.request.method": "GET",
      "http.route": "/api/environments/{environment_id}",
      "http.response.status_code": 404,
    },
    "request.id": "asked",
  });
  expect(answered()).toMatchObject([{ traceId: TRACE, requestId: "asked", status: 404 }]);
  const text = JSON.stringify(span);
  for (const hidden of ["hidden", authorization, "dev@example.test"]) expect(text).not.toContain(hidden);
});

test("a path that no route serves is not said, and a malformed traceparent fails nothing", async () => {
  await service.http.get("/hidden/path").set({ traceparent: "hidden" });
  const [span] = await traced.received();
  expect(span).toMatchObject({ name: "GET", attributes: { "http.response.status_code": 404 } });
  expect(span?.parentSpanId).toBeUndefined();
  expect(JSON.stringify(span)).not.toContain("hidden");
  expect(answered()).toMatchObject([{ traceId: span?.traceId }]);
});
