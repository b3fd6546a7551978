import { afterAll, beforeAll, beforeEach } from "@jest/globals";
import { idTokenVerifier } from "../../../../api/auth/id-tokens.ts";
import { settingsFrom } from "../../../../config/settings.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../../support/http/token-issuer.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** Issuers in the settings, with all defaults. */
export const trusted = (...issuers: readonly object[]) =>
  settingsFrom({ ...testSettings, api: { issuers } }).api.issuers;

/** An issuer of ID tokens, and verifiers that trust it, new for each test. */
export function trustedIssuer() {
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

  const trusting = (more: object = {}) =>
    idTokenVerifier(trusted({ issuer: issuer.issuer, audience: AUDIENCE, ...more }), { clock, log: silentLog });
  const token = (claims: object = {}) => issuer.sign({ sub: "s", ...claims });

  return {
    get clock() {
      return clock;
    },
    get issuer() {
      return issuer;
    },
    trusting,
    token,
  };
}
