import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { openTelemetryTracing } from "../../../../../operator/adapters/opentelemetry/tracing.ts";
import type { Tracing } from "../../../../../operator/kit/tracing.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { recordedLog } from "../../../../support/fixtures/recorded-log.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { startHttpsServer } from "../../../../support/http/https-server.ts";
import { type OtlpReceiver, otlpReceiver } from "../../../../support/tracing/otlp-receiver.ts";

/** The SDK's batch size. */
const BATCH = 512;

let receiver: OtlpReceiver;
beforeEach(async () => {
  receiver = await otlpReceiver();
});
afterEach(() => receiver.stop());

function tracedInto(endpoint: string) {
  const { log, lines } = recordedLog();
  const clock = new TestClock();
  return {
    clock,
    lines,
    tracing: openTelemetryTracing({ endpoint, sampleRatio: 1, version: "1.2.3", instance: "one", log, clock }),
  };
}

async function recordBatch(tracing: Tracing): Promise<void> {
  for (let number = 0; number < BATCH; number += 1) await tracing.span("GET", { kind: "request" }, async () => {});
}

test.each(["", "/"])("spans go to /v1/traces below an endpoint that ends with '%s'", async (end) => {
  const { tracing, lines } = tracedInto(`${receiver.endpoint}${end}`);
  await tracing.span("GET", { kind: "request" }, async () => {});
  await tracing.close();
  expect([receiver.spans.length, lines]).toEqual([1, []]);
});

test("what can't be delivered is said once a minute", async () => {
  const { tracing, lines, clock } = tracedInto(`${receiver.endpoint}/nothing/here`);
  const failing = async () => {
    const { batches } = receiver;
    await recordBatch(tracing);
    await until(() => receiver.batches > batches);
  };
  await failing();
  await until(() => lines.length === 1);
  await failing();
  clock.advance(59_999);
  await failing();
  // Without the trace of the request that filled the batch.
  expect(lines).toEqual([{ level: "warn", message: "spans are not delivered", reason: expect.any(String) }]);
  clock.advance(1);
  await failing();
  await until(() => lines.length === 2);
  await tracing.close();
});

test("the end waits for a collector that does not answer for three seconds, and throws nothing", async () => {
  receiver.hang();
  const { tracing, clock } = tracedInto(receiver.endpoint);
  await tracing.span("GET", { kind: "request" }, async () => {});
  const closed = tracing.close();
  await until(() => receiver.batches === 1);
  expect(clock.pending).toEqual([3_000]);
  clock.advance(3_000);
  await closed;
});

test("headers are sent to a collector by a certificate of one's own, and are in no log line when it refuses", async () => {
  const server = await startHttpsServer(["IP:127.0.0.1"], (request, response) => void receiver.take(request, response));
  const headers = new Map([["authorization", new Sensitive("Bearer hidden-word")]]);
  const { log, lines } = recordedLog();
  const trace = async (options: { readonly path?: string; readonly ca?: string }) => {
    const endpoint = `https://${server.address}${options.path ?? ""}`;
    const more = { sampleRatio: 1, version: "1.2.3", instance: "one", clock: new TestClock() };
    const tracing = openTelemetryTracing({ ...more, endpoint, ca: options.ca, headers, log });
    await tracing.span("GET", { kind: "request" }, async () => {});
    await tracing.close();
  };
  await trace({ ca: server.ca });
  expect([receiver.spans.length, lines]).toEqual([1, []]);
  expect(receiver.headers.authorization).toBe("Bearer hidden-word");
  await trace({ ca: server.ca, path: "/nothing/here" });
  await trace({});
  expect(receiver.spans).toHaveLength(1);
  expect(lines.map(({ message }) => message)).toEqual(["spans are not delivered", "spans are not delivered"]);
  expect(JSON.stringify(lines)).not.toContain("hidden-word");
  await server.stop();
});
