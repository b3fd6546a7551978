import { describe, expect, test } from "@jest/globals";
import { idTokenVerifier } from "../../../../api/auth/id-tokens.ts";
import { HOUR_MS, MINUTE_MS } from "../../../../crds/durations.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";
import { until } from "../../../support/fixtures/until.ts";
import { AUDIENCE } from "../../../support/http/token-issuer.ts";
import { trusted, trustedIssuer } from "./trusted-issuer.ts";

const world = trustedIssuer();
const { trusting, token } = world;

test("a document of an issuer that has no end is not read on", async () => {
  let sent = 0;
  const piece = new Uint8Array(65_536);
  const endless = new ReadableStream({
    pull(stream) {
      sent += piece.length;
      stream.enqueue(piece);
    },
  });
  const issuers = trusted({ issuer: world.issuer.issuer, audience: AUDIENCE });
  const tokens = idTokenVerifier(issuers, {
    clock: world.clock,
    log: silentLog,
    fetch: async () => new Response(endless),
  });
  await expect(tokens.verify(await token())).rejects.toThrow("can't be reached");
  expect(sent).toBeLessThan(2_000_000);
});

describe("the issuer's keys", () => {
  test("are fetched once for many tokens at the same time", async () => {
    const tokens = trusting();
    const before = world.issuer.fetches();
    await Promise.all(Array.from({ length: 20 }, async () => tokens.verify(await token())));
    expect(world.issuer.fetches() - before).toBe(1);
  });

  test("are read from the settings' place instead of discovery, when they name one", async () => {
    world.issuer.discover({ jwks_uri: "http://127.0.0.1:1/none" });
    await expect(trusting({ jwksUri: world.issuer.jwksUri }).verify(await token())).resolves.toMatchObject({
      sub: "s",
    });
  });

  test.each([
    ["another issuer", () => ({ issuer: "https://other.example.test" })],
    ["the issuer with a slash more", () => ({ issuer: `${world.issuer.issuer}/` })],
    ["keys over plain HTTP elsewhere", () => ({ jwks_uri: "http://keys.example.test/jwks" })],
    ["no keys", () => ({ jwks_uri: undefined })],
  ])("are not taken from a discovery document that names %s", async (_case, document) => {
    world.issuer.discover(document());
    await expect(trusting().verify(await token())).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("outlive their issuer for twelve hours, and no longer", async () => {
    const tokens = trusting();
    await tokens.verify(await token());
    world.issuer.setReachable(false);
    world.clock.advance(12 * HOUR_MS);
    await expect(tokens.verify(await token())).resolves.toMatchObject({ sub: "s" });
    world.clock.advance(MINUTE_MS);
    await expect(tokens.verify(await token())).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 10 });
    world.issuer.setReachable(true);
    world.clock.advance(11_000);
    await expect(tokens.verify(await token())).resolves.toMatchObject({ sub: "s" });
  });

  test("are not fetched again within ten seconds of a failure, for any token", async () => {
    world.issuer.setReachable(false);
    const tokens = trusting({ jwksUri: world.issuer.jwksUri });
    const refused = { kind: "unavailable" };
    await expect(tokens.verify(await token())).rejects.toMatchObject(refused);
    world.issuer.setReachable(true);
    await expect(tokens.verify(await token())).rejects.toMatchObject(refused);
    world.clock.advance(10_000);
    await expect(tokens.verify(await token())).resolves.toMatchObject({ sub: "s" });
  });

  test("are fetched again for an unknown key id, at most once a minute", async () => {
    const tokens = trusting();
    await tokens.verify(await token());
    world.clock.advance(MINUTE_MS);
    const before = world.issuer.fetches();
    for (let guess = 0; guess < 20; guess += 1) {
      await expect(tokens.verify(await world.issuer.sign({ sub: "s" }, { kid: `guess-${guess}` }))).rejects.toThrow();
    }
    expect(world.issuer.fetches() - before).toBe(1);
    world.clock.advance(MINUTE_MS);
    await world.issuer.rotate();
    await expect(tokens.verify(await token())).resolves.toMatchObject({ sub: "s" });
  });

  test("that the issuer took back are forgotten after five minutes", async () => {
    const tokens = trusting();
    const signed = await token();
    await tokens.verify(signed);
    await world.issuer.rotate();
    world.clock.advance(5 * MINUTE_MS + 1);
    const before = world.issuer.fetches();
    await tokens.verify(signed);
    await until(() => world.issuer.fetches() > before, { what: "a refresh in the background" });
    await until(
      () =>
        tokens.verify(signed).then(
          () => false,
          () => true,
        ),
      { what: "the old key's end" },
    );
  });
});
