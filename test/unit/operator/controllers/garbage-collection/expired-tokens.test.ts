import { describe, expect, test } from "@jest/globals";
import {
  type ApiToken,
  type ApiTokenSpec,
  TOKEN_VARIABLE,
  tokenOf,
  valueOwner,
} from "../../../../../crds/api-token.ts";
import { DAY_MS } from "../../../../../crds/durations.ts";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { deleteExpiredTokens } from "../../../../../operator/controllers/garbage-collection/api-tokens.ts";
import { memoryApiTokens } from "../../../../support/doubles/memory/api-tokens.ts";
import { memorySecretManager } from "../../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { apiTokenFixture } from "../../../../support/fixtures/api-token-fixture.ts";
import { fixtureSettings } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const NOW_MS = Date.parse("2026-06-01T12:00:00.000Z");
const daysAgo = (days: number) => new Date(NOW_MS - days * DAY_MS).toISOString();

async function scene({ revealable = true, serverLagsDays = 0 } = {}) {
  const clock = new TestClock(new Date(NOW_MS).toISOString());
  const apiTokens = memoryApiTokens(clock);
  const secretManager = memorySecretManager();
  const settings = { ...fixtureSettings, api: { ...fixtureSettings.api, tokens: { revealable, confirmedDays: 30 } } };
  const serverClock = { now: async () => new Date(NOW_MS - serverLagsDays * DAY_MS) };
  const drop = deleteExpiredTokens({ settings, apiTokens, secretManager, clock, serverClock, log: silentLog });
  let made = 0;
  return {
    apiTokens,
    secretManager,
    drop: () => drop(new AbortController().signal),
    async make(spec: Partial<ApiTokenSpec>): Promise<ApiToken> {
      made += 1;
      const value = tokenOf(new Uint8Array(32).fill(made));
      const token = await apiTokens.create(apiTokenFixture({ keepsValue: true, ...spec }, value).spec);
      const kept = { name: TOKEN_VARIABLE, version: 1, generate: () => new Sensitive(value) };
      if (token.spec.keepsValue) await secretManager.ensure(valueOwner(token), [kept]);
      return token;
    },
    left: async (token: ApiToken) => ({
      token: (await apiTokens.read(token.metadata.name)) !== undefined,
      value: await secretManager.holdsAny(valueOwner(token), [TOKEN_VARIABLE]),
    }),
  };
}

describe("an API token", () => {
  test.each<[string, Partial<ApiTokenSpec>, { token: boolean; value: boolean }]>([
    ["that is good for ever stays, with its value", {}, { token: true, value: true }],
    ["that is still good stays, with its value", { expiresAt: daysAgo(-1) }, { token: true, value: true }],
    ["that has expired stays without its value", { expiresAt: daysAgo(29) }, { token: true, value: false }],
    ["that was revoked stays without its value", { revokedAt: daysAgo(29) }, { token: true, value: false }],
    ["that expired a month ago goes", { expiresAt: daysAgo(30) }, { token: false, value: false }],
    ["that was revoked a month ago goes", { revokedAt: daysAgo(30) }, { token: false, value: false }],
    [
      "goes a month after its first end",
      { revokedAt: daysAgo(30), expiresAt: daysAgo(1) },
      { token: false, value: false },
    ],
    ["without a value goes, too", { revokedAt: daysAgo(31), keepsValue: false }, { token: false, value: false }],
  ])("%s", async (_rule, spec, expected) => {
    const { make, drop, left } = await scene();
    const token = await make(spec);
    await drop();
    await drop();
    expect(await left(token)).toEqual(expected);
  });

  test("loses its value where the settings keep none", async () => {
    const { make, drop, left } = await scene({ revealable: false });
    const token = await make({});
    await drop();
    expect(await left(token)).toEqual({ token: true, value: false });
  });

  test("is ended by no clock alone", async () => {
    const { make, drop, left } = await scene({ serverLagsDays: 60 });
    const token = await make({ expiresAt: daysAgo(31) });
    await drop();
    expect(await left(token)).toEqual({ token: true, value: true });
  });

  test("stays as long as its value can't be removed", async () => {
    const { make, drop, left, secretManager } = await scene();
    const token = await make({ revokedAt: daysAgo(40) });
    secretManager.setReachable(false);
    await expect(drop()).rejects.toThrow("away");
    secretManager.setReachable(true);
    expect(await left(token)).toEqual({ token: true, value: true });
    await drop();
    expect(await left(token)).toEqual({ token: false, value: false });
  });

  test("that is stuck keeps no other", async () => {
    const { make, drop, left, secretManager } = await scene();
    const stuck = await make({ revokedAt: daysAgo(40) });
    const other = await make({ revokedAt: daysAgo(40) });
    const { remove } = secretManager;
    secretManager.remove = async (owner, names) => {
      if (owner.uid === stuck.metadata.uid) throw new Error("stuck");
      await remove(owner, names);
    };
    await expect(drop()).rejects.toThrow("stuck");
    expect(await left(stuck)).toEqual({ token: true, value: true });
    expect(await left(other)).toEqual({ token: false, value: false });
  });
});
