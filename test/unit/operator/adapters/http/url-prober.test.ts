import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { certificateAuthority } from "../../../../../deploy/local/kubernetes/pki.ts";
import { httpsUrlProber } from "../../../../../operator/adapters/http/url-prober.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";

const HOST = "shop.preview.example";

let folder: string;
let ca: string;
let ingress: Server;
let port: number;
let requested: string[];
let connections: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "prober-"));
  const authority = await certificateAuthority(folder);
  const pair = await authority.issue("ingress", { commonName: HOST, alternativeNames: [`DNS:${HOST}`] });
  ca = await readFile(authority.certificate, "utf8");
  const identity = { key: await readFile(pair.key), cert: await readFile(pair.certificate) };
  ingress = createServer(identity, (request, reply) => {
    requested.push(`${request.headers.host}${request.url}`);
    reply.end("hello");
  });
  ingress.on("connection", () => {
    connections += 1;
  });
  await once(ingress.listen(0, "127.0.0.1"), "listening");
  port = (ingress.address() as AddressInfo).port;
});

beforeEach(() => {
  requested = [];
  connections = 0;
});

afterAll(async () => {
  ingress.closeAllConnections();
  ingress.close();
  await rm(folder, { recursive: true });
});

const prober = (ingressAddress?: string) => httpsUrlProber({ ingressAddress, ca }, new TestClock());

describe("a path never leads to another host than the environment's own", () => {
  test.each([
    { path: "/healthz", expected: "/healthz" },
    { path: "//169.254.169.254/latest", expected: "//169.254.169.254/latest" },
    { path: "/\\169.254.169.254/latest", expected: "//169.254.169.254/latest" },
    { path: "https://169.254.169.254/latest", expected: "/https://169.254.169.254/latest" },
    { path: "/a?b#c", expected: "/a%3Fb%23c" },
  ])("$path", async ({ path, expected }) => {
    const result = await prober(`127.0.0.1:${port}`).probe(`https://${HOST}`, path);
    expect(result.status).toBe("healthy");
    expect(requested).toEqual([HOST + expected]);
  });
});

describe("without an ingress address, nothing inside is connected to, however it is written", () => {
  test.each(["127.0.0.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"])("%s", async (host) => {
    const result = await prober().probe(`https://${host}:${port}`, "/");
    expect(result).toMatchObject({ status: "unreachable", isAddressRefused: true });
    expect(connections).toBe(0);
  });
});

test.each(["127.0.0.1", "[::ffff:127.0.0.1]", "localhost"])("the ingress may be %s", async (address) => {
  const result = await prober(`${address}:${port}`).probe(`https://${HOST}`, "/");
  expect(result).toMatchObject({ status: "healthy", message: "it answered 200" });
  expect(requested).toEqual([`${HOST}/`]);
});
