import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { freePorts } from "../../support/fixtures/free-ports.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/http/token-issuer.ts";
import { unique } from "../../support/plane/people.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";
import { type OtlpReceiver, otlpReceiver } from "../../support/tracing/otlp-receiver.ts";
import { COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let issuer: TokenIssuer;
let receiver: OtlpReceiver;

beforeAll(async () => {
  [world, issuer, receiver] = await Promise.all([createWorld(), startTokenIssuer(), otlpReceiver()]);
}, 120_000);
afterAll(async () => {
  await Promise.all([receiver.stop(), issuer.stop()]);
  await world.stop();
}, 60_000);

async function traced<T>(endpoint: string, work: (platform: PlatformProcess) => Promise<T>): Promise<T> {
  const issuers = [{ issuer: issuer.issuer, audience: AUDIENCE, roles: { developer: ["developers"] } }];
  const platform = await platformProcess(world.identity, { ...testSettings, api: { issuers }, tracing: { endpoint } });
  try {
    await platform.start();
    await until(async () => (await fetch(`${platform.url}/api/ready`)).ok, { what: "the platform being ready" });
    return await work(platform);
  } finally {
    await platform.stop();
  }
}

/** Creates an environment and waits until a reconcile has seen it; its URLs lead nowhere, so it never becomes ready. */
async function create({ url }: PlatformProcess, name: string, headers: Record<string, string> = {}): Promise<string> {
  const bearer = await issuer.sign({ sub: unique("dev-"), email: "someone@example.test", groups: ["developers"] });
  const body = { environment_name: name, backend_repo: "test-backend", backend_branch: "main", backend_commit: COMMIT };
  const post = await fetch(`${url}/api/environments?dry=needle`, {
    method: "POST",
    headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  expect(post.status).toBe(200);
  const isObserved = async () => (await world.find(name))?.status?.observedGeneration !== undefined;
  await until(isObserved, { what: "a status of the environment", deadlineMs: 60_000 });
  return bearer;
}

const linesOf = ({ output }: PlatformProcess): Record<string, unknown>[] =>
  output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));

test("a request continues its caller's trace; the reconcile is another one, linked to it, and has the calls that it makes", async () => {
  const [name, traceId, callerId] = [
    unique("traced-"),
    randomBytes(16).toString("hex"),
    randomBytes(8).toString("hex"),
  ];
  const { bearer, lines } = await traced(receiver.endpoint, async (platform) => {
    const traceparent = `00-${traceId}-${callerId}-01`;
    const sent = await create(platform, name, { traceparent });
    expect(await platform.terminate()).toBe(0);
    return { bearer: sent, lines: linesOf(platform) };
  });
  const { spans, text } = receiver;
  const childrenOf = (parent: { readonly spanId: string } | undefined) =>
    spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId);

  const [request] = childrenOf({ spanId: callerId });
  expect(request).toMatchObject({
    traceId,
    name: "POST /api/environments",
    isFailed: false,
    attributes: { "http.request.method": "POST", "http.route": "/api/environments" },
    resource: { "service.name": "ephemeral-environments" },
  });
  expect(childrenOf(request).map((span) => span.name)).toContain("create ephemeralenvironments");

  const reconciles = spans.filter((span) => span.attributes.key === name && span.name === "reconcile environments");
  for (const { parentSpanId } of reconciles) expect(parentSpanId).toBeUndefined();
  const linked = reconciles.filter(({ links }) => links.some(({ spanId }) => spanId === request?.spanId));
  expect(linked).not.toEqual([]);
  for (const { links } of linked) expect(links).toMatchObject([{ traceId, spanId: request?.spanId }]);
  expect(linked.map((one) => one.traceId)).not.toContain(traceId);
  const calls = linked.flatMap(childrenOf);
  expect(calls.map((call) => call.name)).toEqual(
    expect.arrayContaining(["create namespaces", "patch ephemeralenvironments/status", "secret-manager ensure"]),
  );
  const secretCalls = calls.filter((call) => call.name === "secret-manager ensure").flatMap(childrenOf);
  expect(secretCalls.map((call) => call.attributes["k8s.api.resource"])).toContain("secrets");

  expect(lines.filter((line) => line.message === "request answered" && line.method === "POST")).toMatchObject([
    { traceId, requestId: expect.any(String), status: 200 },
  ]);
  for (const secret of [bearer, "needle", COMMIT, "example.test"]) expect(text).not.toContain(secret);
}, 120_000);

describe("a collector costs nothing but a log line a minute, and the process ends, when it", () => {
  const expectHarmless = (endpoint: string, isTried: () => boolean) =>
    traced(endpoint, async (platform) => {
      await create(platform, unique("untold-"));
      const said = () => linesOf(platform).filter(({ message }) => message === "spans are not delivered");
      await until(() => isTried() && said().length > 0, { what: "a failed delivery", deadlineMs: 30_000 });
      await create(platform, unique("untold-"));
      expect(await platform.terminate()).toBe(0);
      expect(said()).toMatchObject([{ level: "warn", reason: expect.any(String) }]);
    });

  test("is away", async () => {
    const [port] = await freePorts(1);
    await expectHarmless(`http://127.0.0.1:${port}`, () => true);
  }, 120_000);

  test("hangs", async () => {
    const silent = await otlpReceiver();
    silent.hang();
    await expectHarmless(silent.endpoint, () => silent.batches > 0);
    await silent.stop();
  }, 120_000);
});
