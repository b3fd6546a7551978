import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import { ingressTrafficOf } from "../../../../operator/wiring/technologies.ts";
import { startMetricsServer } from "../../../support/doubles/metrics-server.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";

const never = new AbortController().signal;
const ENVIRONMENTS = new Set(["env-shop"]);
const trafficOf = (activity?: object) =>
  ingressTrafficOf(settingsFrom({ ...testSettings, ...(activity && { activity }) }));

describe("the source of the requests to environments", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "traffic-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("is none where the settings name none", () => {
    expect(trafficOf()).toBeUndefined();
  });

  test("is the ingress controller of the settings", async () => {
    let count = 1;
    const server = await startMetricsServer(
      () => `haproxy_backend_http_requests_total{proxy="env-shop_svc_web_http"} ${count}\n`,
    );
    const traffic = trafficOf({ ingress: { controller: "haproxy", urls: [server.url] } });
    expect(await traffic?.requestsSinceLast(ENVIRONMENTS, never)).toEqual(new Map());
    count += 2;
    expect(await traffic?.requestsSinceLast(ENVIRONMENTS, never)).toEqual(new Map([["env-shop", 2]]));
    await traffic?.close();
    await server.stop();
  });

  test("is the Prometheus of the settings, which gets the token as its file is then", async () => {
    const answer = {
      status: "success",
      data: { resultType: "vector", result: [{ metric: { namespace: "a" }, value: [1, "2"] }] },
    };
    const server = await startMetricsServer(() => JSON.stringify(answer));
    const tokenFile = join(folder, "token");
    const traffic = trafficOf({ prometheus: { url: new URL(server.url).origin, query: "x", tokenFile } });
    for (const token of ["first", "second"]) {
      await writeFile(tokenFile, `${token}\n`);
      await traffic?.requestsSinceLast(ENVIRONMENTS, never);
    }
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"]);
    await traffic?.close();
    await server.stop();
  });

  test("needs the file of its authority at the start", () => {
    const ingress = { controller: "traefik", urls: ["https://traefik.test/metrics"], caFile: join(folder, "none.crt") };
    expect(() => trafficOf({ ingress })).toThrow("ENOENT");
  });
});
