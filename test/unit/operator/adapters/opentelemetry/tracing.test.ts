import { describe, expect, test } from "@jest/globals";
import { logFacts } from "../../../../../operator/kit/log.ts";
import type { SpanOptions, Tracing } from "../../../../../operator/kit/tracing.ts";
import { receivedSpans } from "../../../../support/tracing/received-spans.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const SAMPLED = `00-${TRACE}-${SPAN}-01`;
const UNSAMPLED = `00-${TRACE}-${SPAN}-00`;

const REQUEST: SpanOptions = { kind: "request" };
const RECONCILE: SpanOptions = { kind: "reconcile" };
const CALL: SpanOptions = { kind: "call" };

const nothing = async () => undefined;

test("a request continues its caller's trace, and its calls are its children, however deep", async () => {
  const { tracing, received } = await receivedSpans();
  const answer = await tracing.span("GET", { ...REQUEST, parent: SAMPLED }, async (span) => {
    await tracing.span("outer", CALL, () => tracing.span("inner", { ...CALL, attributes: { verb: "get" } }, nothing));
    span.rename("GET /things");
    span.set({ status: 200, absent: undefined });
    return "answer";
  });
  expect(answer).toBe("answer");
  const [inner, outer, request] = await received();
  expect(request).toMatchObject({
    traceId: TRACE,
    parentSpanId: SPAN,
    name: "GET /things",
    attributes: { status: 200 },
  });
  expect(request?.attributes).not.toHaveProperty("absent");
  expect(outer).toMatchObject({ traceId: TRACE, parentSpanId: request?.spanId, name: "outer" });
  expect(inner).toMatchObject({ traceId: TRACE, parentSpanId: outer?.spanId, attributes: { verb: "get" } });
  expect(request?.resource).toEqual({
    "service.name": "ephemeral-environments",
    "service.version": "1.2.3",
    "service.instance.id": "one",
  });
});

test.each([
  "",
  "nonsense",
  `00-${TRACE}-${SPAN}`,
  `00-${"0".repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${"0".repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `ff-${TRACE}-${SPAN}-01`,
  `${SAMPLED}-more`,
  `${SAMPLED}, ${SAMPLED}`,
])("a traceparent that is none is ignored: '%s'", async (malformed) => {
  const { tracing, received } = await receivedSpans();
  await tracing.span("GET", { ...REQUEST, parent: malformed }, nothing);
  await tracing.span("reconcile", { ...RECONCILE, link: malformed }, nothing);
  const spans = await received();
  expect(spans).toHaveLength(2);
  for (const { traceId, parentSpanId, links } of spans) {
    expect([traceId === TRACE, parentSpanId, links]).toEqual([false, undefined, []]);
  }
});

test("a reconcile begins a trace wherever it runs, and links what caused it", async () => {
  const { tracing, received } = await receivedSpans();
  await tracing.span("GET", REQUEST, () => tracing.span("reconcile", { ...RECONCILE, link: SAMPLED }, nothing));
  const [reconcile, request] = await received();
  expect(reconcile).toMatchObject({ links: [{ traceId: TRACE, spanId: SPAN }] });
  expect(reconcile?.parentSpanId).toBeUndefined();
  expect([TRACE, request?.traceId]).not.toContain(reconcile?.traceId);
});

test("a call outside of a span, or after the end of it, makes none", async () => {
  const { tracing, received } = await receivedSpans();
  const later = Promise.withResolvers<void>();
  await tracing.span("outside", CALL, nothing);
  const after = await tracing.span("GET", REQUEST, async () => ({
    calls: later.promise.then(() => tracing.span("after", CALL, async () => tracing.traceparent())),
  }));
  later.resolve();
  expect(await after.calls).toBeUndefined();
  expect((await received()).map(({ name }) => name)).toEqual(["GET"]);
});

describe("which traces are recorded", () => {
  const namesAt = async (sampleRatio: number, work: (tracing: Tracing) => Promise<unknown>) => {
    const { tracing, received } = await receivedSpans({ sampleRatio });
    await work(tracing);
    return (await received()).map(({ name }) => name);
  };

  test("is the caller's decision, where it took one", async () => {
    const names = await namesAt(0, async (tracing) => {
      await tracing.span("recorded", { ...REQUEST, parent: SAMPLED }, nothing);
      await tracing.span("not recorded", { ...REQUEST, parent: UNSAMPLED }, nothing);
    });
    expect(names).toEqual(["recorded"]);
    expect(await namesAt(1, (tracing) => tracing.span("no", { ...REQUEST, parent: UNSAMPLED }, nothing))).toEqual([]);
  });

  test("is a part of the others, and every reconcile with a link", async () => {
    const names = await namesAt(0, async (tracing) => {
      await tracing.span("request", REQUEST, () => tracing.span("call", CALL, nothing));
      await tracing.span("reconcile", RECONCILE, () => tracing.span("call", CALL, nothing));
      await tracing.span("linked", { ...RECONCILE, link: SAMPLED }, () => tracing.span("its call", CALL, nothing));
    });
    expect(names).toEqual(["its call", "linked"]);
  });
});

test("what is not recorded has no traceparent and no trace id on its log lines", async () => {
  const { tracing, received } = await receivedSpans();
  const seen = async () => [tracing.traceparent(), logFacts()?.traceId];
  expect(await seen()).toEqual([undefined, undefined]);
  expect(await tracing.span("GET", { ...REQUEST, parent: UNSAMPLED }, seen)).toEqual([undefined, undefined]);
  const recorded = await tracing.span("GET", { ...REQUEST, parent: SAMPLED }, seen);
  const [request] = await received();
  expect(recorded).toEqual([`00-${TRACE}-${request?.spanId}-01`, TRACE]);
});

test("a failure is marked by its kind, and its message is not sent", async () => {
  const { tracing, received } = await receivedSpans();
  const error = new RangeError("the password is 1234");
  await expect(tracing.span("GET", REQUEST, () => Promise.reject(error))).rejects.toBe(error);
  await tracing.span("GET", REQUEST, async (span) => span.failed("503"));
  await tracing.span("GET", REQUEST, nothing);
  const spans = await received();
  expect(spans.map(({ isFailed, attributes }) => [isFailed, attributes["error.type"]])).toEqual([
    [true, "RangeError"],
    [true, "503"],
    [false, undefined],
  ]);
  expect(JSON.stringify(spans)).not.toContain("1234");
});
