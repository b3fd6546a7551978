import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { auditOf } from "../../../stages/audit.ts";

let folder: string;
let registry: Server;
let requested: object[];
let advisories: object;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "audit-"));
  requested = [];
  advisories = {};
  const packages = {
    "": { name: "project", version: "1.0.0", dependencies: { leaky: "1.2.3" } },
    "node_modules/leaky": { version: "1.2.3", integrity: "sha512-AA==" },
  };
  const project = { name: "project", version: "1.0.0" };
  await writeFile(join(folder, "package.json"), JSON.stringify({ ...project, dependencies: { leaky: "1.2.3" } }));
  await writeFile(join(folder, "package-lock.json"), JSON.stringify({ ...project, lockfileVersion: 3, packages }));
  registry = createServer(async (request, reply) => {
    if (request.method !== "POST") return reply.writeHead(404).end("{}");
    requested.push((await json(request.pipe(createGunzip()))) as object);
    return reply.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(advisories));
  });
  await once(registry.listen(0, "127.0.0.1"), "listening");
});
afterEach(async () => {
  registry.closeAllConnections();
  registry.close();
  await rm(folder, { recursive: true });
});

const address = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;

test("a lock file without known vulnerabilities is clean, and npm has asked about its packages", async () => {
  expect(await auditOf(folder, address())).toEqual({ state: "clean" });
  expect(requested).toEqual([{ leaky: ["1.2.3"] }]);
}, 60_000);

test("a vulnerable package is named with what is known, however little severe", async () => {
  const url = "https://github.com/advisories/GHSA-0000-0000-0000";
  const more = { url, title: "It leaks", severity: "low", vulnerable_versions: "<1.2.4", cwe: [], cvss: { score: 0 } };
  advisories = { leaky: [{ id: 1, ...more }] };
  expect(await auditOf(folder, address())).toEqual({ state: "vulnerable", found: [`leaky: low: It leaks (${url})`] });
}, 60_000);

test("a registry that can't be asked is reported, and is not taken for a clean one", async () => {
  const gone = address();
  registry.closeAllConnections();
  registry.close();
  expect(await auditOf(folder, gone)).toEqual({ state: "unasked", why: expect.stringContaining("ECONNREFUSED") });
}, 60_000);

test("a registry that answers no such questions is reported as well", async () => {
  registry.removeAllListeners("request");
  registry.on("request", (_, reply) => reply.writeHead(405).end());
  expect(await auditOf(folder, address())).toEqual({ state: "unasked", why: expect.stringContaining("405") });
}, 60_000);
