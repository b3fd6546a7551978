import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { statusAfter } from "../../../../../../operator/controllers/environment/status/status.ts";
import { done } from "../../../../../../operator/controllers/environment/step-result.ts";
import {
  environmentFixture,
  fixtureSettings,
  minutesLater,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { allDone, but, judged, ready, serving, stepConditions } from "./judged-status.ts";

describe("a lowered TTL", () => {
  test("is granted its grace period once", () => {
    const lowered = environmentFixture({ spec: { ttlHours: 1 }, status: ready, metadata: { generation: 2 } });
    const first = judged(lowered, allDone, 120);
    expect(first.expiryNotBefore).toBe(minutesLater(135).toISOString());
    const second = judged({ ...lowered, status: first }, allDone, 130);
    expect(second.expiryNotBefore).toBe(first.expiryNotBefore);
    expect(second.expiresAt).toBe(minutesLater(60).toISOString());
  });
});

describe("a TTL that is not set", () => {
  test.each([
    ["is a day", 168, 24],
    ["is the longest that the settings allow, where that is shorter", 8, 8],
  ])("%s, and stays so", (_rule, maximumHours, expected) => {
    const settle = (environment: EphemeralEnvironment, ttl: { maximumHours: number }) =>
      statusAfter(environment, allDone, {
        now: minutesLater(1),
        conditions: stepConditions,
        settings: { ...fixtureSettings, ttl },
      });
    const settled = settle(environmentFixture(), { maximumHours });
    expect(settled).toMatchObject({ ttlHours: expected, expiresAt: minutesLater(expected * 60).toISOString() });
    expect(settle(environmentFixture({ status: settled }), { maximumHours: 3 }).ttlHours).toBe(expected);
  });
});

describe("the TTL of a config set", () => {
  const settling = (ttlDefaultHours: number) => {
    const configSet = { name: "default", version: 1, revision: "default-1", ttlDefaultHours };
    return but("ConfigurationResolved", done("Resolved", { findings: { configSet } }));
  };

  test("applies from the first reconcile, also when it is short", () => {
    expect(judged(environmentFixture(), settling(2))).toMatchObject({
      ttlHours: 2,
      expiresAt: "2026-01-01T02:00:00.000Z",
    });
    expect(judged(environmentFixture(), settling(2))).not.toHaveProperty("expiryNotBefore");
  });

  test("is at most the longest that the settings allow", () => {
    const settings = { ...fixtureSettings, ttl: { maximumHours: 4 } };
    const context = { now: minutesLater(1), settings, conditions: stepConditions };
    expect(statusAfter(environmentFixture(), settling(8), context).ttlHours).toBe(4);
  });

  test("is that of the first version, whatever a later one says", () => {
    const first = judged(environmentFixture(), settling(5));
    expect(judged(environmentFixture({ status: first }), settling(2)).ttlHours).toBe(5);
  });

  test("yields to one that is asked for", () => {
    const requested = judged(environmentFixture({ spec: { ttlHours: 5 } }), settling(2));
    expect(requested).toMatchObject({ ttlHours: 5, expiresAt: "2026-01-01T05:00:00.000Z" });
  });

  test("grants a grace period when it is resolved late", () => {
    const late = environmentFixture({ status: judged(environmentFixture(), allDone) });
    expect(judged(late, settling(2), 180)).toMatchObject({
      ttlHours: 2,
      expiresAt: "2026-01-01T02:00:00.000Z",
      expiryNotBefore: "2026-01-01T03:15:00.000Z",
    });
  });
});

describe("a protection", () => {
  const shielded = judged(environmentFixture({ spec: { ttlHours: 1, protected: true } }), serving, 120);

  test("is granted one grace period when it is removed after the expiry", () => {
    expect(shielded).toMatchObject({ protected: true });
    expect(shielded).not.toHaveProperty("expiryNotBefore");
    const lifted = environmentFixture({ spec: { ttlHours: 1 }, status: shielded, metadata: { generation: 2 } });
    const first = judged(lifted, serving, 130);
    expect(first).toMatchObject({ expiryNotBefore: minutesLater(145).toISOString() });
    expect(first).not.toHaveProperty("protected");
    expect(judged({ ...lifted, status: first }, serving, 140).expiryNotBefore).toBe(first.expiryNotBefore);
  });

  test("with an end is shown with it, and grants no grace period then", () => {
    const spec = { ttlHours: 1, protectedUntil: minutesLater(125).toISOString() };
    const first = judged(environmentFixture({ spec }), serving, 120);
    expect(first).toMatchObject({ protectedUntil: spec.protectedUntil });
    const over = judged(environmentFixture({ spec, status: first }), serving, 130);
    expect(over).not.toHaveProperty("expiryNotBefore");
    const lifted = judged(environmentFixture({ spec: { ttlHours: 1 }, status: over }), serving, 130);
    expect(lifted).not.toHaveProperty("expiryNotBefore");
    expect(lifted).toMatchObject({ protectedUntil: spec.protectedUntil });
    const early = judged(environmentFixture({ spec: { ttlHours: 1 }, status: first }), serving, 121);
    expect(early).not.toHaveProperty("protectedUntil");
  });

  test("changes nothing that runs", () => {
    expect(shielded.phase).toBe("ready");
  });
});
