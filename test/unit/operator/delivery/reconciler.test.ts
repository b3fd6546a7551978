import { beforeEach, describe, expect, test } from "@jest/globals";
import { ClusterUnavailable, ConfigInvalid, CreationFailed } from "../../../../crds/errors.ts";
import type { WebhookDelivery, WebhookDeliveryStatus } from "../../../../crds/webhooks/webhook-delivery.ts";
import type { Decided, Decision, DecisionContext } from "../../../../operator/delivery/decision.ts";
import { createDeliveryReconciler } from "../../../../operator/delivery/reconciler.ts";
import { silentLog } from "../../../../operator/kit/log.ts";
import { RemovalRefused } from "../../../../operator/ports/environments.ts";
import { type MemoryAuditTrail, memoryAuditTrail } from "../../../support/doubles/memory/audit-trail.ts";
import { type MemoryEnvironments, memoryEnvironments } from "../../../support/doubles/memory/environments.ts";
import { aRepository, memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { memoryDecidedWrites } from "../../../support/doubles/memory/webhooks/decided-writes.ts";
import { memoryPullRequestReader } from "../../../support/doubles/memory/webhooks/pull-request-reader.ts";
import {
  type MemoryWebhookDeliveries,
  memoryWebhookDeliveries,
} from "../../../support/doubles/memory/webhooks/webhook-deliveries.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { webhookDeliveryFixture } from "../../../support/fixtures/webhooks/webhook-fixture.ts";

const NAME = "delivery";
const spec = { backend: { repository: "shop-api", branch: "main" } };
const create = (name: string): Decision => ({ do: "create", name, spec, reason: "Qualifies" });
const nothing: Decision = { do: "nothing", reason: "NoMatch", message: "no rule fits" };

let clock: TestClock;
let deliveries: MemoryWebhookDeliveries;
let environments: MemoryEnvironments;
let audit: MemoryAuditTrail;
/** What is decided now. */
let decisions: (world: DecisionContext) => Promise<readonly Decision[]> | readonly Decision[];
let reconcile: (name: string) => Promise<unknown>;

beforeEach(() => {
  clock = new TestClock("2026-06-01T12:00:00Z");
  deliveries = memoryWebhookDeliveries(clock);
  environments = memoryEnvironments(clock);
  audit = memoryAuditTrail();
  decisions = () => [nothing];
  const find = (name: string) => environments.list().find(({ metadata }) => metadata.name === name);
  const world = {
    environments: { find, ofRepository: () => [] },
    repositories: memoryRepositories(aRepository("shop-api")),
  } as unknown as DecisionContext;
  const reconciler = createDeliveryReconciler({
    ...{ clock, audit, world, log: silentLog, webhookDeliveries: deliveries, newId: () => "id" },
    pullRequestReader: memoryPullRequestReader().reader,
    writes: memoryDecidedWrites(environments),
    decide: async (_subject, seen) =>
      (await decisions(seen)).map((decision): Decided => ({ decision, trace: [{ rule: "enabled", passed: true }] })),
  });
  const signal = new AbortController().signal;
  reconcile = async (name) => reconciler(name, { signal, requeueUrgently: () => undefined });
});

function stored(status?: WebhookDeliveryStatus): WebhookDelivery {
  const { status: _, ...delivery } = webhookDeliveryFixture(NAME, { repositories: ["shop-api"] });
  deliveries.put(status === undefined ? delivery : { ...delivery, status });
  return delivery;
}
const now = () => deliveries.find(NAME)?.status;
const waiting: WebhookDeliveryStatus = { phase: "pending", reason: "SeveralEnvironments", message: "" };

describe("a delivery without an outcome", () => {
  test("is left to the replica that accepted it for thirty seconds, then decided", async () => {
    stored();
    clock.advance(10_000);
    expect(await reconcile(NAME)).toEqual({ requeueAfterMs: 20_000 });
    expect(now()).toBeUndefined();
    clock.advance(20_000);
    decisions = () => [create("one")];
    expect(await reconcile(NAME)).toEqual({});
    expect(now()).toMatchObject({
      phase: "acted",
      reason: "Qualifies",
      environments: [{ name: "one", action: "created" }],
    });
    expect(audit.records).toMatchObject([{ action: "webhook create", actor: { method: "webhook", delivery: NAME } }]);
  });

  test("that was left to the operator is decided at once, for every target", async () => {
    stored(waiting);
    decisions = () => [create("one"), create("two"), nothing];
    await reconcile(NAME);
    expect(now()?.environments?.map(({ name }) => name)).toEqual(["one", "two"]);
  });

  test("is decided anew when the world has changed meanwhile, on what the API server has", async () => {
    stored(waiting);
    decisions = (world) => (world.environments.find("one") === undefined ? [create("one")] : [nothing]);
    const { list } = environments;
    await environments.create("one", spec);
    // The watch has not seen it yet.
    environments.list = () => [];
    await reconcile(NAME);
    expect(now()).toMatchObject({ phase: "ignored", reason: "NoMatch" });
    expect(list()).toHaveLength(1);
  });

  test("waits while a name is not free, and writes that once", async () => {
    stored(waiting);
    const environment = await environments.create("one", spec);
    decisions = () => [{ do: "wait", environment, reason: "Terminating", message: "its environment is being deleted" }];
    expect(await reconcile(NAME)).toEqual({ requeueAfterMs: expect.any(Number) });
    const version = deliveries.find(NAME)?.metadata.resourceVersion;
    await reconcile(NAME);
    expect(deliveries.find(NAME)?.metadata.resourceVersion).toBe(version);
    decisions = () => [create("two")];
    await reconcile(NAME);
    expect(now()?.phase).toBe("acted");
  });

  test("fails for good where the API server refuses, and may act again when it is delivered again", async () => {
    stored(waiting);
    decisions = () => [create("one")];
    environments.failNext(new ConfigInvalid([{ field: "spec", message: "is wrong" }]));
    await reconcile(NAME);
    expect(now()).toMatchObject({ phase: "failed", reason: "Refused", message: expect.stringContaining("is wrong") });
  });

  test("is tried again where the rights to create or to delete are missing: an upgrade may just be changing them", async () => {
    for (const refusal of [new CreationFailed(), new RemovalRefused("a policy forbids it")]) {
      stored(waiting);
      decisions = () => [create("one")];
      environments.failNext(refusal);
      expect(await reconcile(NAME)).toEqual({ requeueAfterMs: expect.any(Number) });
      expect(now()).toMatchObject({ phase: "pending", reason: "Refused", attempts: 1 });
    }
    await reconcile(NAME);
    expect(now()).toMatchObject({ phase: "acted", environments: [{ name: "one", action: "created" }] });
  });

  test("fails when the rights were missing ten times", async () => {
    stored(waiting);
    decisions = () => [create("one")];
    for (let attempt = 1; attempt <= 10; attempt++) {
      environments.failNext(new CreationFailed());
      await reconcile(NAME);
    }
    const message = "the environment: Failed to create environment";
    expect(now()).toMatchObject({ phase: "failed", reason: "Refused", message, attempts: 10 });
  });

  test("is tried again while the cluster is away, and after ten faults of its own fails", async () => {
    stored(waiting);
    decisions = () => Promise.reject(new ClusterUnavailable(5));
    await expect(reconcile(NAME)).rejects.toThrow(ClusterUnavailable);
    expect(now()).toEqual(waiting);
    decisions = () => Promise.reject(new Error("a bug"));
    for (let attempt = 1; attempt < 10; attempt++) {
      await reconcile(NAME);
      expect(now()).toMatchObject({ phase: "pending", attempts: attempt });
    }
    await reconcile(NAME);
    expect(now()).toMatchObject({ phase: "failed", reason: "Fault" });
  });

  test("of a Repository that is gone is ignored", async () => {
    const { status: _, ...delivery } = webhookDeliveryFixture(NAME, { repositories: ["gone-api"] });
    deliveries.put({ ...delivery, status: waiting });
    await reconcile(NAME);
    expect(now()).toMatchObject({ phase: "ignored", reason: "RepositoryGone" });
  });
});

test("what has its outcome, or is gone, is left alone", async () => {
  stored({ phase: "ignored", reason: "NoMatch", message: "" });
  decisions = () => [create("one")];
  expect(await reconcile(NAME)).toBeUndefined();
  expect(await reconcile("gone")).toBeUndefined();
  expect(environments.list()).toEqual([]);
});
