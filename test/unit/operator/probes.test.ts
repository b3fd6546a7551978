import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { serveProbes } from "../../../operator/probes.ts";

let server: Server;
afterEach(() => new Promise((closed) => server.close(closed)));

test.each([
  { name: "before the first lists", alive: true, synced: false, livez: 200, readyz: 503 },
  { name: "when all is well", alive: true, synced: true, livez: 200, readyz: 200 },
  { name: "when a watch hangs", alive: false, synced: true, livez: 503, readyz: 200 },
])("$name: alive is answered $livez, ready $readyz", async ({ alive, synced, livez, readyz }) => {
  server = await serveProbes({ host: "127.0.0.1", port: 0 }, { alive, synced });
  const { port } = server.address() as AddressInfo;
  const asked = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
  expect([await asked("/livez"), await asked("/readyz"), await asked("/else")]).toEqual([livez, readyz, 404]);
});
