import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { httpsUrlProber } from "../../operator/adapters/http/url-prober.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import type { UrlProber } from "../../operator/ports/url-prober.ts";
import { until } from "../support/fixtures/until.ts";
import { type HttpsServer, startHttpsServer } from "../support/http/https-server.ts";

const URL_OF_SHOP = "https://shop.env.localhost:18443";
/** What an application may write on its connection. */
const PAGE = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage";
const HINTS = "HTTP/1.1 103 Early Hints\r\n\r\n";
const SWITCH = "HTTP/1.1 101 Switching Protocols\r\n";

let ingress: HttpsServer;
let prober: UrlProber;
const seen: { host: string | undefined; path: string | undefined }[] = [];
let open = 0;
let mostOpen = 0;
let heldUp: (() => void)[] = [];
let endlessBytes = 0;
let endlessIsOver = false;

/** What the server does at each path; at any other it never answers. */
const behaviours: Readonly<Record<string, (reply: ServerResponse, detail: string) => void>> = {
  status: (reply, status) => reply.writeHead(Number(status)).end("page"),
  redirect: (reply) => reply.writeHead(302, { location: `https://${ingress.address}/status/500` }).end(),
  hold: (reply) => holdUp(() => reply.end("ok")),
  headers: (reply) => reply.writeHead(200, { "x-long": "x".repeat(100_000) }).end(),
  bytes: (reply, hex) => reply.socket?.end(Buffer.from(hex, "hex")),
  promise: (reply) => reply.writeContinue(),
  promises,
  drip,
  endless,
};

beforeAll(async () => {
  ingress = await startHttpsServer(["DNS:*.env.localhost", "DNS:localhost", "IP:127.0.0.1"], (request, reply) => {
    const { url = "/", headers } = request;
    seen.push({ host: headers.host, path: url });
    const [, what = "", detail = ""] = url.split("/");
    behaviours[what]?.(reply, detail);
  });
  prober = httpsUrlProber({ ingressAddress: ingress.address, ca: ingress.ca }, systemClock);
});
afterAll(() => ingress.stop());

function holdUp(answer: () => void): void {
  open += 1;
  mostOpen = Math.max(mostOpen, open);
  heldUp.push(() => {
    open -= 1;
    answer();
  });
}

function drip(reply: ServerResponse): void {
  const timer = setInterval(() => reply.write(Buffer.alloc(1)), 50);
  reply.on("close", () => clearInterval(timer));
}

/** Says again and again that an answer is coming. */
function promises({ socket }: ServerResponse, status: string): void {
  const timer = setInterval(() => socket?.write(`HTTP/1.1 ${status} Soon\r\n\r\n`), 5);
  socket?.on("close", () => clearInterval(timer));
}

function endless(reply: ServerResponse): void {
  const chunk = Buffer.alloc(16 * 1024);
  const pour = () => {
    while (!endlessIsOver && reply.write(chunk)) endlessBytes += chunk.length;
  };
  reply.on("drain", pour);
  reply.on("close", () => {
    endlessIsOver = true;
  });
  pour();
}

describe("an answer", () => {
  test.each([
    [200, "healthy"],
    [204, "healthy"],
    [301, "healthy"],
    [399, "healthy"],
    [400, "unhealthy"],
    [404, "unhealthy"],
    [500, "unhealthy"],
    [503, "unhealthy"],
  ])("of %s is %s", async (status, expected) => {
    const result = await prober.probe(URL_OF_SHOP, `/status/${status}`);
    expect(result).toEqual({ status: expected, message: `it answered ${status}`, responseTimeMs: expect.any(Number) });
  });

  test("is asked for by the URL's own name, wherever the connection goes", async () => {
    await prober.probe(URL_OF_SHOP, "/status/201");
    expect(seen).toContainEqual({ host: "shop.env.localhost:18443", path: "/status/201" });
  });

  test("that leads elsewhere is not followed", async () => {
    expect((await prober.probe(URL_OF_SHOP, "/redirect")).status).toBe("healthy");
    expect(seen.filter(({ path }) => path === "/status/500")).not.toContainEqual({
      host: ingress.address,
      path: "/status/500",
    });
  });

  test("that never ends costs no more than its beginning", async () => {
    expect((await prober.probe(URL_OF_SHOP, "/endless")).status).toBe("healthy");
    await until(() => endlessIsOver, { what: "the end of the connection" });
    // 64 KiB are read; the rest filled the buffers between the two ends.
    expect(endlessBytes).toBeLessThan(16 * 1024 * 1024);
  });

  test.each([
    [
      "in another protocol",
      [SWITCH, "Connection: Upgrade\r\nUpgrade: x\r\n\r\nbytes of x"],
      "unhealthy",
      "it answered 101",
    ],
    ["in a protocol without a name", [SWITCH, "\r\n"], "unhealthy", "it answered 101"],
    ["after a promise", [HINTS, PAGE], "healthy", "it answered 200"],
    ["after too many promises", [HINTS.repeat(20), PAGE], "unreachable", "it answered 103 again and again"],
    ["that is promised and never given", [HINTS], "unreachable", "ECONNRESET"],
    ["of no byte", [], "unreachable", "ECONNRESET"],
    ["of half a head", [PAGE.slice(0, 20)], "unreachable", "ECONNRESET"],
    ["of half a body", [PAGE.slice(0, -1)], "unreachable", "ECONNRESET"],
    ["that is no HTTP", ["220 mail.example.com ESMTP\r\n"], "unreachable", "HPE_INVALID_CONSTANT"],
  ] as const)("%s counts as what it is", async (_what, parts, status, message) => {
    const hex = Buffer.from(parts.join("")).toString("hex");
    expect(await prober.probe(URL_OF_SHOP, `/bytes/${hex}`)).toMatchObject({ status, message });
  });

  test.each([100, 103])("that is promised by %s without end is none", async (status) => {
    const result = await prober.probe(URL_OF_SHOP, `/promises/${status}`);
    expect(result).toMatchObject({ status: "unreachable", message: `it answered ${status} again and again` });
  });

  test("with endless headers is none", async () => {
    expect((await prober.probe(URL_OF_SHOP, "/headers")).status).toBe("unreachable");
  });
});

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
    const unspoken = httpsUrlProber({ ingressAddress: `127.0.0.1:${port}`, ca: ingress.ca }, systemClock);
    const results = await Promise.all([
      unspoken.probe(URL_OF_SHOP, "/"),
      prober.probe(URL_OF_SHOP, "/silent"),
      prober.probe(URL_OF_SHOP, "/drip"),
      prober.probe(URL_OF_SHOP, "/promise"),
    ]);
    for (const result of results) {
      expect(result).toMatchObject({ status: "unreachable", message: "no answer within 5 s" });
      expect(result.responseTimeMs).toBeGreaterThan(4_500);
      expect(result.responseTimeMs).toBeLessThan(14_000);
    }
  }, 15_000);

  test("is what a port gives on which nobody listens", async () => {
    const nobody = httpsUrlProber({ ingressAddress: "127.0.0.1:9", ca: ingress.ca }, systemClock);
    expect(await nobody.probe(URL_OF_SHOP, "/")).toMatchObject({ status: "unreachable", message: "ECONNREFUSED" });
  });

  test.each([
    [
      "another name",
      () => ({ url: "https://shop.other.localhost", ca: ingress.ca }),
      "its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)",
    ],
    [
      "an unknown authority",
      () => ({ url: URL_OF_SHOP, ca: undefined }),
      "its certificate is of an unknown authority (UNABLE_TO_VERIFY_LEAF_SIGNATURE)",
    ],
  ])("counts that comes with a certificate of %s", async (_what, given, message) => {
    const { url, ca } = given();
    const strict = httpsUrlProber({ ingressAddress: ingress.address, ca }, systemClock);
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
    const bare = httpsUrlProber({ ingressAddress: `127.0.0.1:${port}`, ca: ingress.ca }, systemClock);
    const result = await bare.probe(URL_OF_SHOP, "/status/200");
    server.close();
    expect(result).toMatchObject({ status: "unreachable" });
    expect(result.isCertificateRefused).toBe(isCertificateRefused);
  });
});

describe("without an ingress address, what is inside stays unasked", () => {
  test.each([
    "localhost",
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "169.254.169.254",
    "10.0.0.1",
  ])(
    "%s",
    async (host) => {
      const asked = seen.length;
      const open = httpsUrlProber({ ca: ingress.ca }, systemClock);
      const result = await open.probe(`https://${host}:${ingress.port}`, "/status/200");
      const message = "its name leads to a private address (AddressNotPublic)";
      expect(result).toMatchObject({ status: "unreachable", isAddressRefused: true, message });
      expect(seen).toHaveLength(asked);
    },
    10_000,
  );
});

describe("many at once", () => {
  test("are 64; the others wait in line", async () => {
    const probes = Array.from({ length: 100 }, () => prober.probe(URL_OF_SHOP, "/hold"));
    await until(() => open === 64, { what: "64 open probes" });
    // By the time that a later one has its answer, the others would have come too.
    const unhindered = httpsUrlProber({ ingressAddress: ingress.address, ca: ingress.ca }, systemClock);
    for (let i = 0; i < 3; i++) await unhindered.probe(URL_OF_SHOP, "/status/200");
    expect(mostOpen).toBe(64);
    let answered = 0;
    await until(
      () => {
        const batch = heldUp;
        heldUp = [];
        answered += batch.length;
        for (const answer of batch) answer();
        return answered === 100;
      },
      { what: "every probe being asked", deadlineMs: 20_000 },
    );
    const results = await Promise.all(probes);
    expect(results.filter(({ status }) => status === "healthy")).toHaveLength(100);
    expect(mostOpen).toBe(64);
  }, 30_000);
});
