import { describe, expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../../../crds/durations.ts";
import { dropOldDeliveries } from "../../../../../operator/controllers/garbage-collection/old-records.ts";
import { memoryWebhookDeliveries } from "../../../../support/doubles/memory/webhooks/webhook-deliveries.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { fixtureSettings } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { webhookDeliveryFixture } from "../../../../support/fixtures/webhooks/webhook-fixture.ts";

const NOW = "2026-06-10T12:00:00Z";
const signal = new AbortController().signal;

/** Stored deliveries by name: age in hours, verified or not, waiting or not. */
async function left(
  stored: Readonly<
    Record<
      string,
      { readonly hoursAgo: number; readonly verified?: boolean; readonly waits?: boolean; readonly of?: string }
    >
  >,
  retention: object = {},
) {
  const clock = new TestClock(NOW);
  const deliveries = memoryWebhookDeliveries(clock);
  for (const [name, { hoursAgo, verified = true, waits = false, of }] of Object.entries(stored)) {
    const fixture = webhookDeliveryFixture(name, { verified, ...(of && { repositories: [of] }) });
    const creationTimestamp = new Date(Date.parse(NOW) - hoursAgo * HOUR_MS).toISOString();
    const status = waits ? { status: { phase: "pending" as const, reason: "Waits", message: "" } } : {};
    deliveries.put({ ...fixture, ...status, metadata: { ...fixture.metadata, creationTimestamp } });
  }
  const { webhooks } = fixtureSettings;
  const settings = {
    ...fixtureSettings,
    webhooks: { ...webhooks, retention: { ...webhooks.retention, ...retention } },
  };
  const serverClock = { now: async () => clock.now() };
  const isMoreLeft = await dropOldDeliveries({ settings, webhookDeliveries: deliveries, clock, serverClock })(signal);
  expect(isMoreLeft).toBe(false);
  return deliveries.list().map(({ metadata }) => metadata.name);
}

describe("finished deliveries are dropped", () => {
  test("after seven days when verified, after a day when not", async () => {
    const stored = {
      "verified-new": { hoursAgo: 167 },
      "verified-old": { hoursAgo: 168 },
      "unverified-new": { hoursAgo: 23, verified: false },
      "unverified-old": { hoursAgo: 24, verified: false },
    };
    expect(await left(stored)).toEqual(["verified-new", "unverified-new"]);
  });

  test("beyond their number, oldest first, each kind by itself", async () => {
    const stored = {
      old: { hoursAgo: 3 },
      older: { hoursAgo: 4 },
      new: { hoursAgo: 1 },
      "unverified-new": { hoursAgo: 1, verified: false },
      "unverified-old": { hoursAgo: 2, verified: false },
    };
    expect(await left(stored, { verified: 2, unverified: 1 })).toEqual(["old", "new", "unverified-new"]);
  });

  test("abuse: of the Repository that has the most, so that one's events drop none of the others", async () => {
    const flood = Array.from(
      { length: 10 },
      (_, index) => [`flood-${index}`, { hoursAgo: index, of: "busy" }] as const,
    );
    const stored = { ...Object.fromEntries(flood), quiet: { hoursAgo: 100, of: "quiet" } };
    expect(await left(stored, { verified: 4 })).toEqual(["flood-0", "flood-1", "flood-2", "quiet"]);
  });
});

test("a pending delivery is never dropped, however old it is", async () => {
  const stored = { waiting: { hoursAgo: 1_000, waits: true }, finished: { hoursAgo: 1_000 } };
  expect(await left(stored, { verified: 1 })).toEqual(["waiting"]);
});
