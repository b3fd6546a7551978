import { describe, expect, test } from "@jest/globals";
import { httpsUrlProber } from "../../operator/adapters/http/url-prober.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import { until } from "../support/fixtures/until.ts";
import { probedIngress, URL_OF_SHOP } from "./probed-ingress.ts";

const world = probedIngress();
const { seen } = world;

const PAGE = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage";
const HINTS = "HTTP/1.1 103 Early Hints\r\n\r\n";
const SWITCH = "HTTP/1.1 101 Switching Protocols\r\n";

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
    const result = await world.prober.probe(URL_OF_SHOP, `/status/${status}`);
    expect(result).toEqual({ status: expected, message: `it answered ${status}`, responseTimeMs: expect.any(Number) });
  });

  test("is asked for by the URL's own name, wherever the connection goes", async () => {
    await world.prober.probe(URL_OF_SHOP, "/status/201");
    expect(seen).toContainEqual({ host: "shop.env.localhost:18443", path: "/status/201" });
  });

  test("that leads elsewhere is not followed", async () => {
    expect((await world.prober.probe(URL_OF_SHOP, "/redirect")).status).toBe("healthy");
    expect(seen.filter(({ path }) => path === "/status/500")).not.toContainEqual({
      host: world.ingress.address,
      path: "/status/500",
    });
  });

  test("that never ends costs no more than its beginning", async () => {
    expect((await world.prober.probe(URL_OF_SHOP, "/endless")).status).toBe("healthy");
    await until(() => world.endlessIsOver, { what: "the end of the connection" });
    // 64 KiB are read; the rest filled the buffers at both ends.
    expect(world.endlessBytes).toBeLessThan(16 * 1024 * 1024);
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
    expect(await world.prober.probe(URL_OF_SHOP, `/bytes/${hex}`)).toMatchObject({ status, message });
  });

  test.each([100, 103])("that is promised by %s without end is none", async (status) => {
    const result = await world.prober.probe(URL_OF_SHOP, `/promises/${status}`);
    expect(result).toMatchObject({ status: "unreachable", message: `it answered ${status} again and again` });
  });

  test("with endless headers is none", async () => {
    expect((await world.prober.probe(URL_OF_SHOP, "/headers")).status).toBe("unreachable");
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
      const requested = seen.length;
      const open = httpsUrlProber({ ca: world.ingress.ca }, systemClock);
      const result = await open.probe(`https://${host}:${world.ingress.port}`, "/status/200");
      const message = "its name leads to a private address (AddressNotPublic)";
      expect(result).toMatchObject({ status: "unreachable", isAddressRefused: true, message });
      expect(seen).toHaveLength(requested);
    },
    10_000,
  );
});

describe("many at once", () => {
  test("are 64; the others wait in line", async () => {
    const probes = Array.from({ length: 100 }, () => world.prober.probe(URL_OF_SHOP, "/hold"));
    await until(() => world.open === 64, { what: "64 open probes" });
    // By the time of a later one's answer, the others would have arrived, too.
    const unhindered = httpsUrlProber({ ingressAddress: world.ingress.address, ca: world.ingress.ca }, systemClock);
    for (let i = 0; i < 3; i++) await unhindered.probe(URL_OF_SHOP, "/status/200");
    expect(world.mostOpen).toBe(64);
    let answered = 0;
    await until(
      () => {
        const batch = world.heldUp;
        world.heldUp = [];
        answered += batch.length;
        for (const answer of batch) answer();
        return answered === 100;
      },
      { what: "every probe being asked", deadlineMs: 20_000 },
    );
    const results = await Promise.all(probes);
    expect(results.filter(({ status }) => status === "healthy")).toHaveLength(100);
    expect(world.mostOpen).toBe(64);
  }, 30_000);
});
