import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { idTokenVerifier, TokenRefused } from "../../../../api/auth/id-tokens.ts";
import { HOUR_MS } from "../../../../crds/durations.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../../support/http/token-issuer.ts";
import { trusted, trustedIssuer } from "./trusted-issuer.ts";

const world = trustedIssuer();
const { trusting, token } = world;

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
    expect(read).toMatchObject({ issuer: world.issuer.issuer, sub: "s", ...identity });
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
    world.clock.advance(HOUR_MS + 29_000);
    await expect(trusting().verify(signed)).resolves.toMatchObject({ sub: "s" });
    world.clock.advance(2_000);
    await expect(trusting().verify(signed)).rejects.toThrow("ERR_JWT_EXPIRED");
  });
});

// Abuse case 104: a public issuer signs in everyone.
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
    await expect(refused).rejects.toMatchObject({ detail: expect.stringContaining(`'${named}'`) });
  });

  test("is refused for a claim that every object has", async () => {
    const refused = trusting({ requiredClaims: { constructor: ["x"] } }).verify(await token());
    await expect(refused).rejects.toThrow(TokenRefused);
  });
});

describe("of several issuers", () => {
  let other: TokenIssuer;
  beforeAll(async () => {
    other = await startTokenIssuer(() => world.clock.now());
  });
  afterAll(() => other.stop());

  const both = () =>
    idTokenVerifier(
      trusted(
        { issuer: world.issuer.issuer, audience: AUDIENCE, groupsPrefix: "ours:" },
        { issuer: other.issuer, audience: "theirs", groupsClaim: "teams", groupsPrefix: "theirs:" },
      ),
      { clock: world.clock, log: silentLog },
    );

  test("each has its own keys, audience, and claim and prefix of groups", async () => {
    const tokens = both();
    const claims = { sub: "s", groups: ["g"], teams: ["t"] };
    expect(await tokens.verify(await world.issuer.sign(claims))).toMatchObject({
      issuer: world.issuer.issuer,
      groups: ["ours:g"],
    });
    const theirs = await other.sign({ ...claims, aud: "theirs" });
    expect(await tokens.verify(theirs)).toMatchObject({ issuer: other.issuer, groups: ["theirs:t"] });
    await expect(tokens.verify(await other.sign(claims))).rejects.toThrow("ERR_JWT_CLAIM_VALIDATION_FAILED");
    await expect(tokens.verify(await world.issuer.sign({ ...claims, aud: "theirs" }))).rejects.toThrow(TokenRefused);
    await expect(tokens.verify(await other.sign({ ...claims, iss: world.issuer.issuer }))).rejects.toThrow(
      TokenRefused,
    );
  });

  test("one that is away is nothing to those of the others", async () => {
    other.setReachable(false);
    const tokens = both();
    await expect(tokens.verify(await other.sign({ sub: "s", aud: "theirs" }))).rejects.toMatchObject({
      kind: "unavailable",
    });
    expect(await tokens.verify(await world.issuer.sign({ sub: "s" }))).toMatchObject({ sub: "s" });
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

  test("is accepted for each of several audiences, and for no other", async () => {
    const tokens = trusting({ audience: [AUDIENCE, "console"] });
    for (const claims of [
      {},
      { aud: "console" },
      { aud: "console", azp: "console" },
      { aud: [AUDIENCE, "console"], azp: "console" },
    ]) {
      await expect(tokens.verify(await token(claims))).resolves.toMatchObject({ sub: "s" });
    }
    for (const claims of [{ aud: "elsewhere" }, { aud: "console", azp: "elsewhere" }, { aud: [AUDIENCE, "console"] }]) {
      await expect(tokens.verify(await token(claims))).rejects.toThrow(TokenRefused);
    }
  });

  test.each([["jku"], ["x5u"]])("calls no address that stands in its header as %s", async (header) => {
    const called: string[] = [];
    const noting = (url: string, init?: RequestInit) => {
      called.push(url);
      return fetch(url, init);
    };
    const keys = { clock: world.clock, log: silentLog, fetch: noting as typeof fetch };
    const issuers = trusted({ issuer: world.issuer.issuer, audience: AUDIENCE });
    const signed = await world.issuer.sign({ sub: "s" }, { [header]: "http://127.0.0.1:1/keys", kid: "unknown" });
    await expect(idTokenVerifier(issuers, keys).verify(signed)).rejects.toThrow(TokenRefused);
    expect(called.length).toBeGreaterThan(0);
    expect(called.every((url) => url.startsWith(world.issuer.issuer))).toBe(true);
  });

  test.each([
    ["a million dots", ".".repeat(1_000_000)],
    ["five parts, as an encrypted one", "e30.e30.e30.e30.e30"],
    ["more than 8 KiB", `e30.${"a".repeat(8192)}.e30`],
  ])("of %s is refused before anything is parsed", async (_what, text) => {
    await expect(trusting().verify(text)).rejects.toThrow("not a signed token");
  });
});
