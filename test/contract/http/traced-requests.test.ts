import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
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
    "http.request.method": "GET",
    "http.route": "/api/environments/{environment_id}",
    "http.response.status_code": 404,
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

describe("a traceparent", () => {
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
  beforeEach(async () => {
    await traced.received();
    await service.stop();
    traced = await receivedSpans({ sampleRatio: 0 });
    service = await startApiService({ tracing: traced.tracing });
  });
  const tracesOf = async () =>
    (await traced.received()).map(({ traceId, attributes }) => [traceId, attributes["request.id"]]);
  const ask = (path: string, requestId: string, authorization?: string) =>
    service.http.get(path).set({ ...headers, "x-request-id": requestId, ...(authorization && { authorization }) });

  test("abuse case 117: of a stranger records nothing beyond the sample ratio and joins no trace, on any path", async () => {
    const { value } = await service.makeToken("developer", { revokedAt: service.clock.now().toISOString() });
    for (const path of ["/api/environments", "/api/health", "/docs", "/nowhere"]) {
      await ask(path, "none");
      await ask(path, "nonsense", "Bearer nonsense");
      await ask(path, "guessed", `Bearer svc_${"A".repeat(43)}`);
      await ask(path, "revoked", `Bearer ${value}`);
    }
    await service.http.post("/api/webhooks/generic").set(headers).send({ event: "deployed" }).expect(200);
    expect(await tracesOf()).toEqual([]);
  });

  test("abuse case 117: of a stranger costs no look-up of the credential where none is asked for", async () => {
    const before = service.log.length;
    for (let call = 0; call < 20; call += 1)
      await ask("/api/health", "guessed", `Bearer svc_${"B".repeat(43)}`).expect(200);
    expect(service.log.slice(before).filter(({ level }) => level === "warn")).toEqual([]);
    expect(service.apiTokens.reads).toEqual([]);
  });

  test("of a caller with an ID token or an API token decides for its trace", async () => {
    const { value } = await service.makeToken("developer");
    await ask("/api/environments", "person", await service.bearer("developer")).expect(200);
    await ask("/api/environments", "token", `Bearer ${value}`).expect(200);
    expect(await tracesOf()).toEqual([
      [TRACE, "person"],
      [TRACE, "token"],
    ]);
  });

  test("is not trusted while the credential can't be judged", async () => {
    const { value } = await service.makeToken("developer");
    service.apiTokens.setReachable(false);
    await ask("/api/environments", "token", `Bearer ${value}`).expect(503);
    expect(await tracesOf()).toEqual([]);
  });
});
