import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { httpsUrlProber } from "../../operator/adapters/http/url-prober.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import { probedIngress, URL_OF_SHOP } from "./probed-ingress.ts";

const world = probedIngress();

describe("no answer", () => {
  let silent: Server;
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    silent = createTcpServer((socket) => sockets.add(socket));
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test("in time is said after five seconds, whether connection, head, promised head or body is late", async () => {
    const { port } = silent.address() as AddressInfo;
    const unspoken = httpsUrlProber({ ingressAddress: `127.0.0.1:${port}`, ca: world.ingress.ca }, systemClock);
    const results = await Promise.all([
      unspoken.probe(URL_OF_SHOP, "/"),
      world.prober.probe(URL_OF_SHOP, "/silent"),
      world.prober.probe(URL_OF_SHOP, "/drip"),
      world.prober.probe(URL_OF_SHOP, "/promise"),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({ status: "unreachable", message: "no answer within 5 s" });
      expect(result.responseTimeMs).toBeGreaterThan(4_500);
      expect(result.responseTimeMs).toBeLessThan(14_000);
    }
  }, 15_000);

  test("is what a port without a listener gives", async () => {
    const silent = httpsUrlProber({ ingressAddress: "127.0.0.1:9", ca: world.ingress.ca }, systemClock);
    expect(await silent.probe(URL_OF_SHOP, "/")).toMatchObject({ status: "unreachable", message: "ECONNREFUSED" });
  });

  test.each([
    [
      "another name",
      () => ({ url: "https://shop.other.localhost", ca: world.ingress.ca }),
      "its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)",
    ],
    [
      "an unknown authority",
      () => ({ url: URL_OF_SHOP, ca: undefined }),
      "its certificate is of an unknown authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
    ],
  ])("counts that comes with a certificate of %s", async (_what, given, message) => {
    const { url, ca } = given();
    const strict = httpsUrlProber({ ingressAddress: world.ingress.address, ca }, systemClock);
    const expected = { status: "unreachable", isCertificateRefused: true, message };
    expect(await strict.probe(url, "/status/200")).toMatchObject(expected);
  });

  test.each([
    ["that has no certificate at all", (socket: Socket) => socket.end(Buffer.from("15030300020228", "hex")), true],
    ["that speaks no TLS", (socket: Socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), true],
    ["that hangs up", (socket: Socket) => socket.destroy(), undefined],
  ])("comes from an ingress %s", async (_what, greet, isCertificateRefused) => {
    const server = createTcpServer((socket) => socket.on("error", () => undefined).once("data", () => greet(socket)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const bare = httpsUrlProber({ ingressAddress: `127.0.0.1:${port}`, ca: world.ingress.ca }, systemClock);
    const result = await bare.probe(URL_OF_SHOP, "/status/200");
    server.close();
    expect(result).toMatchObject({ status: "unreachable" });
    expect(result.isCertificateRefused).toBe(isCertificateRefused);
  });
});
