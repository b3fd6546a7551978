import { afterEach, expect, test } from "@jest/globals";
import { type ProbesServer, serveProbes } from "../../../operator/probes.ts";

const metrics = { scrape: async () => ({ contentType: "text/plain; version=0.0.4", text: "figures 1\n" }) };
let server: ProbesServer;
afterEach(() => server.close());

test.each([
  { name: "before the first lists", alive: true, missing: ["apitokens.x"], livez: 200, readyz: 503 },
  { name: "when all is well", alive: true, missing: [], livez: 200, readyz: 200 },
  { name: "when a watch hangs", alive: false, missing: [], livez: 503, readyz: 200 },
])("$name: alive is answered $livez, ready $readyz", async ({ alive, missing, livez, readyz }) => {
  server = await serveProbes({ host: "127.0.0.1", port: 0 }, { alive, missing }, metrics);
  const requested = async (path: string) => (await fetch(`${server.url}${path}`)).status;
  expect([await requested("/livez"), await requested("/readyz"), await requested("/else")]).toEqual([
    livez,
    readyz,
    404,
  ]);
});

test("what is missing for readiness is named", async () => {
  const missing = ["applications.argoproj.io", "appprojects.argoproj.io"];
  server = await serveProbes({ host: "127.0.0.1", port: 0 }, { alive: true, missing }, metrics);
  const reply = await fetch(`${server.url}/readyz`);
  expect(await reply.text()).toBe(
    "not ok: no complete list yet of applications.argoproj.io, appprojects.argoproj.io\n",
  );
});

test("figures are beside the probes, and one that can't be read ends nothing", async () => {
  let isReadable = false;
  const scrape = async () => {
    if (!isReadable) throw new Error("a figure can't be read");
    return metrics.scrape();
  };
  server = await serveProbes({ host: "127.0.0.1", port: 0 }, { alive: true, missing: [] }, { scrape });
  const requested = async () => {
    const reply = await fetch(`${server.url}/metrics`);
    return [reply.status, reply.headers.get("content-type"), await reply.text()];
  };
  expect(await requested()).toEqual([500, "text/plain", "not ok: a figure can't be read\n"]);
  isReadable = true;
  expect(await requested()).toEqual([200, "text/plain; version=0.0.4", "figures 1\n"]);
});
