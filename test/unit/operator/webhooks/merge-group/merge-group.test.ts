import { beforeEach, describe, expect, test } from "@jest/globals";
import { type Settings, settingsFrom } from "../../../../../config/settings.ts";
import type { Repository } from "../../../../../crds/repository/repository.ts";
import type { WebhookEvent } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import { createDeliveryReconciler } from "../../../../../operator/controllers/webhook-delivery/reconcile.ts";
import { decide } from "../../../../../operator/webhooks/decide.ts";
import { processDelivery } from "../../../../../operator/webhooks/process.ts";
import { memoryAuditTrail } from "../../../../support/doubles/memory/audit-trail.ts";
import { memoryEnvironments } from "../../../../support/doubles/memory/environments.ts";
import { memoryDecidedWrites } from "../../../../support/doubles/memory/webhooks/decided-writes.ts";
import { memoryPullRequestHost } from "../../../../support/doubles/memory/webhooks/pull-request-host.ts";
import { memoryPullRequestReader } from "../../../../support/doubles/memory/webhooks/pull-request-reader.ts";
import {
  type MemoryWebhookDeliveries,
  memoryWebhookDeliveries,
} from "../../../../support/doubles/memory/webhooks/webhook-deliveries.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { testSettings } from "../../../../support/fixtures/test-settings.ts";
import { webhookDeliveryFixture } from "../../../../support/fixtures/webhooks/webhook-fixture.ts";
import { commitOf, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const event = (letter = "a"): WebhookEvent => ({
  type: "merge_group",
  mergeGroup: { commit: commitOf(letter), branch: "gh-readonly-queue/main/pr-7", baseRef: "main" },
});
const token = { name: "host-token", key: "latest" };
const hosts = (more: object) => settingsFrom({ ...testSettings, hosts: [{ ...HOST, ...more }] }).hosts;
const HOST = { id: "git", kind: "github", apiUrl: "https://api.github.com" };
const REPORTED = {
  commit: commitOf("a"),
  context: "ephemeral-environment/shop-api",
  state: "success",
  description: "No environment is built for merge groups",
};

let clock: TestClock;
let deliveries: MemoryWebhookDeliveries;
let reported: ReturnType<typeof memoryPullRequestHost>;

beforeEach(() => {
  clock = new TestClock("2026-06-01T12:00:00Z");
  deliveries = memoryWebhookDeliveries(clock);
  reported = memoryPullRequestHost();
});

function scene(spec: Partial<Repository["spec"]> = {}, settings: Partial<Settings> = { hosts: hosts({ token }) }) {
  const world = new WebhookWorld({ repositories: [shopApi({ host: "git", ...spec })], settings });
  const { signal } = new AbortController();
  const common = {
    clock,
    decide,
    log: silentLog,
    newId: () => "id",
    audit: memoryAuditTrail(),
    webhookDeliveries: deliveries,
    decisionContext: { ...world.context, deliveries, clock },
    writes: memoryDecidedWrites(memoryEnvironments(clock)),
  };
  /** The API accepts it, the operator continues. */
  const accept = async (name: string, letter?: string) => {
    const { status: _, ...delivery } = webhookDeliveryFixture(name, { repositories: ["shop-api"] });
    const { pullRequest: __, ...more } = { ...delivery.spec, receivedAt: clock.now().toISOString() } as never as Record<
      string,
      unknown
    >;
    const made = { ...delivery, spec: { ...more, event: event(letter) } as typeof delivery.spec };
    deliveries.put(made);
    deliveries.put({ ...made, status: await processDelivery(made, common, { atOnce: "one" }) });
  };
  const reconciler = createDeliveryReconciler({
    ...common,
    pullRequestHost: reported.host,
    pullRequestReader: memoryPullRequestReader().reader,
  });
  return {
    accept,
    reconcile: (name: string) => reconciler(name, { signal, requeueUrgently: () => undefined }),
    outcome: (name: string) => deliveries.find(name)?.status,
  };
}

describe("the commit of a merge group", () => {
  test("is reported as a success by the operator, so that a queue that requires our status goes on", async () => {
    const { accept, reconcile, outcome } = scene();
    await accept("one");
    expect(outcome("one")).toMatchObject({ phase: "pending", reason: "MergeGroup" });
    expect(reported.reports).toEqual([]);
    await reconcile("one");
    expect(reported.reports).toEqual([REPORTED]);
    expect(outcome("one")).toMatchObject({ phase: "acted", reason: "MergeGroup" });
  });

  test("is reported once, although an app's hook and a repository's hook both send it; another one anew", async () => {
    const { accept, reconcile, outcome } = scene();
    for (const name of ["one", "two"]) await accept(name);
    for (const name of ["one", "two"]) await reconcile(name);
    await accept("three");
    await accept("four", "b");
    await reconcile("four");
    expect(reported.reports.map(({ commit }) => commit)).toEqual([commitOf("a"), commitOf("b")]);
    expect(["two", "three"].map((name) => outcome(name)?.reason)).toEqual(["Reported", "Reported"]);
  });

  test("is reported again when the process ended before the outcome was stored", async () => {
    const { accept, reconcile, outcome } = scene();
    await accept("one");
    const before = outcome("one");
    await reconcile("one");
    const stored = deliveries.find("one");
    if (stored !== undefined && before !== undefined) deliveries.put({ ...stored, status: before });
    await reconcile("one");
    expect(reported.reports).toEqual([REPORTED, REPORTED]);
    expect(outcome("one")?.phase).toBe("acted");
  });

  test("waits for a host that is away, for an hour", async () => {
    const { accept, reconcile, outcome } = scene();
    reported.setReachable(false);
    await accept("one");
    await accept("two", "b");
    expect(await reconcile("one")).toEqual({ requeueAfterMs: 15_000 });
    expect(outcome("one")).toMatchObject({ phase: "pending", reason: "HostUntold", message: "the host is away" });
    clock.advance(10 * 60_000);
    expect(await reconcile("one")).toEqual({ requeueAfterMs: 150_000 });
    clock.advance(40 * 60_000);
    expect(await reconcile("one")).toEqual({ requeueAfterMs: 300_000 });
    reported.setReachable(true);
    await reconcile("one");
    expect(outcome("one")?.phase).toBe("acted");
    reported.setReachable(false);
    clock.advance(10 * 60_000);
    await reconcile("two");
    expect(outcome("two")).toMatchObject({ phase: "failed", reason: "HostUntold" });
  });

  test.each([
    ["StatusDisabled", { feedback: { status: false } }, { hosts: hosts({ token }) }],
    ["NoToken", {}, { hosts: hosts({}) }],
    ["NoToken", { host: "other" }, { hosts: hosts({ token }) }],
  ])("is not reported: %s", async (reason, spec, settings) => {
    const { accept, outcome } = scene(spec, settings);
    await accept("one");
    expect(outcome("one")).toMatchObject({ phase: "ignored", reason });
  });
});
