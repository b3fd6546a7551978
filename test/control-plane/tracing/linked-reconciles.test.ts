import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { isPending } from "../../../crds/webhooks/webhook-delivery.ts";
import type { Operator } from "../../../operator/wiring/operator.ts";
import { until } from "../../support/fixtures/until.ts";
import { webhookDeliveryFixture } from "../../support/fixtures/webhooks/webhook-fixture.ts";
import { unique } from "../../support/plane/people.ts";
import type { ReceivedSpan } from "../../support/tracing/otlp-receiver.ts";
import { receivedSpans, type TracedWork } from "../../support/tracing/received-spans.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let traced: TracedWork;
let running: RunningOperator;
let operator: Operator;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
beforeEach(async () => {
  traced = await receivedSpans();
  running = await world.startOperator({ tracing: traced.tracing });
  ({ operator } = running);
}, 60_000);
afterEach(() => world.abandonOperators(), 60_000);
afterAll(() => world.stop(), 60_000);

const requested = <T>(name: string, work: () => Promise<T>) => traced.tracing.span(name, { kind: "request" }, work);

/** All spans: a reconcile ends a moment after its writes are seen. */
async function endedSpans(): Promise<readonly ReceivedSpan[]> {
  await running.stop();
  return traced.received();
}

/** The spans of that name linked to the request, each in its own trace. */
function linkedTo(request: string, spans: readonly ReceivedSpan[], name: string): readonly ReceivedSpan[] {
  const found = spans.find((span) => span.name === request);
  const linked = spans.filter((one) => one.name === name && one.links.some(({ spanId }) => spanId === found?.spanId));
  for (const one of linked) expect(one.traceId).not.toBe(found?.traceId);
  return linked;
}

test("the reconciles of a deletion link its request, until a status has it", async () => {
  const name = unique("traced-");
  await world.create(name, backendOnly);
  const environment = await world.expectPhase(name, "ready");
  await requested("the deletion", () => operator.ports.environments.remove(environment));
  await world.expectGone(environment);
  const spans = await endedSpans();
  const linked = linkedTo("the deletion", spans, "reconcile environments");
  expect(linked).not.toEqual([]);
  const calls = spans.filter(({ parentSpanId }) => linked.some(({ spanId }) => spanId === parentSpanId));
  expect(calls.map((call) => call.name)).toContain("delete applications");
}, 120_000);

test("a delivery that is settled later links the request that brought it", async () => {
  const name = unique("traced-");
  const { webhookDeliveries } = operator.ports;
  // Old enough that no other replica settles it.
  const { spec } = webhookDeliveryFixture(name);
  await requested("the webhook", () => webhookDeliveries.claim(name, spec));
  const isSettled = async () => {
    const found = webhookDeliveries.find(name);
    return found !== undefined && !isPending(found);
  };
  await until(isSettled, { what: "the delivery's outcome", deadlineMs: 30_000 });
  const linked = linkedTo("the webhook", await endedSpans(), "reconcile deliveries");
  expect(linked.map(({ attributes }) => attributes.key)).toContain(name);
}, 60_000);
