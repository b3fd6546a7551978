import { describe, expect, test } from "@jest/globals";
import {
  type ExtensionGrant,
  extendedTtl,
  signExtension,
  verifyExtension,
} from "../../../../crds/notifications/extension-token.ts";
import { Sensitive } from "../../../../crds/sensitive.ts";

const key = new Sensitive("k".repeat(43));
const now = new Date("2026-06-01T12:00:00.000Z");
const grant: ExtensionGrant = {
  uid: "0a1b2c3d-1111-4222-8333-444455556666",
  expiresAt: new Date("2026-06-02T00:00:00.000Z"),
  addedHours: 24,
  endsAt: new Date("2026-06-02T00:00:00.000Z"),
};
const token = signExtension(grant, key);
const [payload = "", signature = ""] = token.split(".");
const forged = (claims: object) => `${Buffer.from(JSON.stringify(claims)).toString("base64url")}.${signature}`;
const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));

describe("the token of a link that extends", () => {
  test("says what it permits, and nothing of the key", () => {
    expect(verifyExtension(token, key, now)).toEqual(grant);
    expect(token).toMatch(/^eyJ[\w-]+\.[\w-]{43}$/);
    expect(claims).toEqual({ uid: grant.uid, exp: 1780358400, hours: 24, end: 1780358400 });
  });

  test.each<[string, string]>([
    ["of another environment", forged({ ...claims, uid: "ffffffff-1111-4222-8333-444455556666" })],
    ["with more hours", forged({ ...claims, hours: 168 })],
    ["with another expiry", forged({ ...claims, exp: claims.exp + 3600 })],
    ["with a later end", forged({ ...claims, end: claims.end + 3600 })],
    ["with another signature", `${payload}.${"A".repeat(43)}`],
    [
      "whose signature is spelt differently",
      `${payload}.${signature.slice(0, -1)}${signature.endsWith("A") ? "B" : "A"}`,
    ],
    ["without a signature", payload],
    ["with an empty signature", `${payload}.`],
    ["with more behind it", `${token}.x`],
    ["in another alphabet", token.replace(/[\w-]/, "+")],
    ["that is too long", `${payload.repeat(20)}.${signature}`],
    ["that is empty", ""],
  ])("%s is refused", (_title, text) => {
    expect(verifyExtension(text, key, now)).toBeUndefined();
  });

  test("of another key is refused", () => {
    expect(verifyExtension(token, new Sensitive("o".repeat(43)), now)).toBeUndefined();
  });

  test("holds until its end, and not at it", () => {
    expect(verifyExtension(token, key, new Date(grant.endsAt.getTime() - 1))).toEqual(grant);
    expect(verifyExtension(token, key, grant.endsAt)).toBeUndefined();
  });
});

describe("the TTL after an extension", () => {
  test.each<[string, readonly [ttl: number, added: number, maximum: number], number | undefined]>([
    ["has the added hours", [24, 24, 168], 48],
    ["ends at the maximum", [160, 24, 168], 168],
    ["has a maximum of the settings", [24, 24, 36], 36],
    ["is none at the maximum", [168, 24, 168], undefined],
    ["is none beyond a maximum that was lowered", [100, 24, 48], undefined],
  ])("%s", (_rule, given, expected) => {
    expect(extendedTtl(...given)).toBe(expected);
  });
});
