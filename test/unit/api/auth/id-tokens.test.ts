import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { idTokenVerifier, TokenRefused } from "../../../../api/auth/id-tokens.ts";
import { settingsFrom } from "../../../../config/settings.ts";
import { silentLog } from "../../../../operator/kit/log.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";
import { until } from "../../../support/fixtures/until.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../../support/http/token-issuer.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let clock: TestClock;
let issuer: TokenIssuer;
beforeAll(async () => {
  issuer = await startTokenIssuer(() => clock.now());
});
afterAll(() => issuer.stop());
beforeEach(() => {
  clock = new TestClock();
  issuer.setReachable(true);
  issuer.discover({});
});

/** Issuers as the settings have them, with all defaults. */
const trusted = (...issuers: readonly object[]) => settingsFrom({ ...testSettings, api: { issuers } }).api.issuers;
const trusting = (more: object = {}) =>
  idTokenVerifier(trusted({ issuer: issuer.issuer, audience: AUDIENCE, ...more }), { clock, log: silentLog });
const token = (claims: object = {}) => issuer.sign({ sub: "s", ...claims });

describe("the identity in a token", () => {
  test.each<[object, object]>([
    [
      { email: "a@example.test", name: "A", groups: ["x", "y"] },
      { email: "a@example.test", name: "A", groups: ["x", "y"] },
    ],
    [{}, { email: "", name: "", groups: [] }],
    [{ email: "a@example.test" }, { email: "a@example.test", name: "a@example.test" }],
    [
      { email: "a@example.test", email_verified: false },
      { email: "", name: "" },
    ],
    [{ preferred_username: "a" }, { name: "a" }],
    [{ groups: "x" }, { groups: [] }],
    [{ groups: ["x", 1, null, "", "y".repeat(129)] }, { groups: ["x"] }],
  ])("%j is read as %j", async (claims, identity) => {
    const read = await trusting().verify(await token(claims));
    expect(read).toMatchObject({ issuer: issuer.issuer, sub: "s", ...identity });
  });

  test("groups come from the claim that the settings name", async () => {
    const read = await trusting({ groupsClaim: "teams" }).verify(await token({ teams: ["x"], groups: ["y"] }));
    expect(read.groups).toEqual(["x"]);
  });

  test("a name of a group that is too long with its prefix is none", async () => {
    const groups = ["x".repeat(126), "y".repeat(127)];
    const read = await trusting({ groupsPrefix: "p:" }).verify(await token({ groups }));
    expect(read.groups).toEqual([`p:${groups[0]}`]);
  });

  test("a clock that is half a minute off is forgiven", async () => {
    const signed = await token();
    clock.advance(HOUR_MS + 29_000);
    await expect(trusting().verify(signed)).resolves.toMatchObject({ sub: "s" });
    clock.advance(2_000);
    await expect(trusting().verify(signed)).rejects.toThrow("ERR_JWT_EXPIRED");
  });
});

test("a document of an issuer that has no end is not read on", async () => {
  let sent = 0;
  const piece = new Uint8Array(65_536);
  const endless = new ReadableStream({
    pull(stream) {
      sent += piece.length;
      stream.enqueue(piece);
    },
  });
  const issuers = trusted({ issuer: issuer.issuer, audience: AUDIENCE });
  const tokens = idTokenVerifier(issuers, { clock, log: silentLog, fetch: async () => new Response(endless) });
  await expect(tokens.verify(await token())).rejects.toThrow("can't be reached");
  expect(sent).toBeLessThan(2_000_000);
});

// Abuse case 104: a public issuer signs in everybody.
describe("of an issuer with required claims", () => {
  const requiredClaims = { hd: ["example.test", "example.com"], groups: ["staff"] };
  const staff = { hd: "example.com", groups: ["all", "staff"] };

  test("is accepted with a value of each", async () => {
    await expect(trusting({ requiredClaims }).verify(await token(staff))).resolves.toMatchObject({ sub: "s" });
  });

  test.each([
    ["has none", { hd: undefined }, "hd"],
    ["has another value", { hd: "example.test.evil.test" }, "hd"],
    ["has no text", { hd: { example: "example.com" } }, "hd"],
    ["has it in a list without the value", { groups: ["all"] }, "groups"],
    ["has an empty list", { groups: [] }, "groups"],
  ])("is refused when it %s, and says which claim", async (_what, claims, named) => {
    const refused = trusting({ requiredClaims }).verify(await token({ ...staff, ...claims }));
    await expect(refused).rejects.toMatchObject({ told: expect.stringContaining(`'${named}'`) });
  });

  test("is refused for a claim that every object has", async () => {
    const refused = trusting({ requiredClaims: { constructor: ["x"] } }).verify(await token());
    await expect(refused).rejects.toThrow(TokenRefused);
  });
});

describe("of several issuers", () => {
  let other: TokenIssuer;
  beforeAll(async () => {
    other = await startTokenIssuer(() => clock.now());
  });
  afterAll(() => other.stop());

  const both = () =>
    idTokenVerifier(
      trusted(
        { issuer: issuer.issuer, audience: AUDIENCE, groupsPrefix: "ours:" },
        { issuer: other.issuer, audience: "theirs", groupsClaim: "teams", groupsPrefix: "theirs:" },
      ),
      { clock, log: silentLog },
    );

  test("each has its own keys, audience, and claim and prefix of groups", async () => {
    const tokens = both();
    const claims = { sub: "s", groups: ["g"], teams: ["t"] };
    expect(await tokens.verify(await issuer.sign(claims))).toMatchObject({ issuer: issuer.issuer, groups: ["ours:g"] });
    const theirs = await other.sign({ ...claims, aud: "theirs" });
    expect(await tokens.verify(theirs)).toMatchObject({ issuer: other.issuer, groups: ["theirs:t"] });
    await expect(tokens.verify(await other.sign(claims))).rejects.toThrow("ERR_JWT_CLAIM_VALIDATION_FAILED");
    await expect(tokens.verify(await issuer.sign({ ...claims, aud: "theirs" }))).rejects.toThrow(TokenRefused);
    await expect(tokens.verify(await other.sign({ ...claims, iss: issuer.issuer }))).rejects.toThrow(TokenRefused);
  });

  test("one that is away is nothing to those of the others", async () => {
    other.setReachable(false);
    const tokens = both();
    await expect(tokens.verify(await other.sign({ sub: "s", aud: "theirs" }))).rejects.toMatchObject({
      kind: "unavailable",
    });
    expect(await tokens.verify(await issuer.sign({ sub: "s" }))).toMatchObject({ sub: "s" });
    other.setReachable(true);
  });
});

describe("a token", () => {
  test("is refused in an algorithm that its issuer is not trusted with, for every key", async () => {
    await expect(trusting({ algorithms: ["ES256", "PS256"] }).verify(await token())).rejects.toThrow(
      "ERR_JOSE_ALG_NOT_ALLOWED",
    );
  });

  test("for several parties is accepted when it was made for us", async () => {
    const aud = ["elsewhere", AUDIENCE];
    await expect(trusting().verify(await token({ aud, azp: AUDIENCE }))).resolves.toMatchObject({ sub: "s" });
    await expect(trusting().verify(await token({ aud, azp: "elsewhere" }))).rejects.toThrow(TokenRefused);
  });

  test.each([["jku"], ["x5u"]])("has nobody called who stands in its header as %s", async (header) => {
    const called: string[] = [];
    const noting = (url: string, init?: RequestInit) => {
      called.push(url);
      return fetch(url, init);
    };
    const keys = { clock, log: silentLog, fetch: noting as typeof fetch };
    const issuers = trusted({ issuer: issuer.issuer, audience: AUDIENCE });
    const signed = await issuer.sign({ sub: "s" }, { [header]: "http://127.0.0.1:1/keys", kid: "unknown" });
    await expect(idTokenVerifier(issuers, keys).verify(signed)).rejects.toThrow(TokenRefused);
    expect(called.length).toBeGreaterThan(0);
    expect(called.every((url) => url.startsWith(issuer.issuer))).toBe(true);
  });

  test.each([
    ["a million dots", ".".repeat(1_000_000)],
    ["five parts, as an encrypted one", "e30.e30.e30.e30.e30"],
    ["more than 8 KiB", `e30.${"a".repeat(8192)}.e30`],
  ])("of %s is refused before anything is parsed", async (_what, text) => {
    await expect(trusting().verify(text)).rejects.toThrow("not a signed token");
  });
});

describe("the issuer's keys", () => {
  test("are fetched once for many tokens at the same time", async () => {
    const tokens = trusting();
    const before = issuer.fetches();
    await Promise.all(Array.from({ length: 20 }, async () => tokens.verify(await token())));
    expect(issuer.fetches() - before).toBe(1);
  });

  test("are read from the settings' place instead of discovery, when they name one", async () => {
    issuer.discover({ jwks_uri: "http://127.0.0.1:1/none" });
    await expect(trusting({ jwksUri: issuer.jwksUri }).verify(await token())).resolves.toMatchObject({ sub: "s" });
  });

  test.each([
    ["another issuer", () => ({ issuer: "https://other.example.test" })],
    ["the issuer with a slash more", () => ({ issuer: `${issuer.issuer}/` })],
    ["keys over plain HTTP elsewhere", () => ({ jwks_uri: "http://keys.example.test/jwks" })],
    ["no keys", () => ({ jwks_uri: undefined })],
  ])("are not taken from a discovery document that names %s", async (_case, document) => {
    issuer.discover(document());
    await expect(trusting().verify(await token())).rejects.toMatchObject({ kind: "unavailable" });
  });

  test("outlive their issuer for twelve hours, and no longer", async () => {
    const tokens = trusting();
    await tokens.verify(await token());
    issuer.setReachable(false);
    clock.advance(12 * HOUR_MS);
    await expect(tokens.verify(await token())).resolves.toMatchObject({ sub: "s" });
    clock.advance(MINUTE_MS);
    await expect(tokens.verify(await token())).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 10 });
    issuer.setReachable(true);
    clock.advance(11_000);
    await expect(tokens.verify(await token())).resolves.toMatchObject({ sub: "s" });
  });

  test("are not fetched again within ten seconds of a failure, for any token", async () => {
    issuer.setReachable(false);
    const tokens = trusting({ jwksUri: issuer.jwksUri });
    const refused = { kind: "unavailable" };
    await expect(tokens.verify(await token())).rejects.toMatchObject(refused);
    issuer.setReachable(true);
    await expect(tokens.verify(await token())).rejects.toMatchObject(refused);
    clock.advance(10_000);
    await expect(tokens.verify(await token())).resolves.toMatchObject({ sub: "s" });
  });

  test("are fetched again for an unknown key id, at most once a minute", async () => {
    const tokens = trusting();
    await tokens.verify(await token());
    clock.advance(MINUTE_MS);
    const before = issuer.fetches();
    for (let guess = 0; guess < 20; guess += 1) {
      await expect(tokens.verify(await issuer.sign({ sub: "s" }, { kid: `guess-${guess}` }))).rejects.toThrow();
    }
    expect(issuer.fetches() - before).toBe(1);
    clock.advance(MINUTE_MS);
    await issuer.rotate();
    await expect(tokens.verify(await token())).resolves.toMatchObject({ sub: "s" });
  });

  test("that the issuer took back are forgotten after five minutes", async () => {
    const tokens = trusting();
    const signed = await token();
    await tokens.verify(signed);
    await issuer.rotate();
    clock.advance(5 * MINUTE_MS + 1);
    const before = issuer.fetches();
    await tokens.verify(signed);
    await until(() => issuer.fetches() > before, { what: "a refresh in the background" });
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
