import { describe, expect, test } from "@jest/globals";
import {
  endedAt,
  isOf,
  isTokenId,
  isTokenText,
  type TokenState,
  tokenOf,
  tokenState,
  tokenTraits,
  valueOwner,
} from "../../../crds/api-token.ts";
import { nameProblem } from "../../../crds/names.ts";
import { apiTokenFixture, FIXTURE_TOKEN } from "../../support/fixtures/api-token-fixture.ts";

const NOW = new Date("2026-06-01T12:00:00.000Z");
const past = "2026-06-01T11:59:59.999Z";
const future = "2026-06-01T12:00:00.001Z";

describe("the text of a token", () => {
  test("is the prefix and 32 bytes, and has an id of its own", () => {
    expect(FIXTURE_TOKEN).toBe(`svc_${"A".repeat(43)}`);
    expect(isTokenText(FIXTURE_TOKEN)).toBe(true);
    const { id, tokenHash, prefix } = tokenTraits(FIXTURE_TOKEN);
    expect(tokenHash).toMatch(/^[0-9a-f]{64}$/);
    expect(id).toBe(tokenHash.slice(0, 40));
    expect(isTokenId(id)).toBe(true);
    expect(prefix).toBe("svc_AAAAAA");
    expect(tokenTraits(tokenOf(new Uint8Array(32).fill(1))).id).not.toBe(id);
  });

  test.each([
    "",
    "svc_",
    `svc_${"A".repeat(42)}`,
    `svc_${"A".repeat(44)}`,
    `SVC_${"A".repeat(43)}`,
    `svc_${"=".repeat(43)}`,
  ])("is not %j", (text) => {
    expect(isTokenText(text)).toBe(false);
  });

  test.each(["", "0".repeat(39), "0".repeat(41), "G".repeat(40), `${"0".repeat(39)}/`])("%j is no id", (text) => {
    expect(isTokenId(text)).toBe(false);
  });

  test("is known by its whole hash", () => {
    const { tokenHash } = tokenTraits(FIXTURE_TOKEN);
    expect(isOf(apiTokenFixture(), tokenHash)).toBe(true);
    expect(isOf(apiTokenFixture(), `${tokenHash.slice(0, 40)}${"0".repeat(24)}`)).toBe(false);
    expect(isOf(apiTokenFixture(), tokenHash.slice(0, 40))).toBe(false);
  });
});

test.each<[object, TokenState, string | undefined]>([
  [{}, "active", undefined],
  [{ expiresAt: future }, "active", undefined],
  [{ expiresAt: NOW.toISOString() }, "expired", NOW.toISOString()],
  [{ expiresAt: past }, "expired", past],
  [{ revokedAt: past }, "revoked", past],
  [{ revokedAt: NOW.toISOString(), expiresAt: past }, "revoked", past],
  [{ revokedAt: past, expiresAt: future }, "revoked", past],
  // A revocation is effective even with a later time of another replica's clock.
  [{ revokedAt: future }, "revoked", undefined],
])("a token with %j is %s, ended at %s", (spec, state, ended) => {
  const token = apiTokenFixture(spec);
  expect(tokenState(token, NOW)).toBe(state);
  expect(endedAt(token, NOW)?.toISOString()).toBe(ended);
});

test("a value's owner is no environment that there can be, and another one for each token", () => {
  const one = apiTokenFixture();
  const other = apiTokenFixture({}, tokenOf(new Uint8Array(32).fill(1)));
  for (const token of [one, other]) {
    expect(nameProblem(valueOwner(token).name)).toBe("must not contain '--'");
    // Valid as a label's value and as the name of a Secret.
    expect(valueOwner(token).name).toMatch(/^[a-z0-9][a-z0-9-]{0,48}[a-z0-9]$/);
  }
  expect(valueOwner(one).name).not.toBe(valueOwner(other).name);
});
