import { beforeEach, describe, expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import {
  ClusterUnavailable,
  ConfigInvalid,
  CreationFailed,
  HostUnavailable,
  SecretsUnavailable,
} from "../../../../../crds/errors.ts";
import type {
  WebhookDelivery,
  WebhookDeliverySpec,
  WebhookDeliveryStatus,
} from "../../../../../crds/webhooks/webhook-delivery.ts";
import { createDeliveryReconciler } from "../../../../../operator/controllers/webhook-delivery/reconcile.ts";
import { RemovalRefused } from "../../../../../operator/ports/environments.ts";
import type { Decided, Decision, DecisionContext } from "../../../../../operator/webhooks/decision.ts";
import { type MemoryAuditTrail, memoryAuditTrail } from "../../../../support/doubles/memory/audit-trail.ts";
import { type MemoryEnvironments, memoryEnvironments } from "../../../../support/doubles/memory/environments.ts";
import { aRepository, memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { memoryDecidedWrites } from "../../../../support/doubles/memory/webhooks/decided-writes.ts";
import { memoryPullRequestReader } from "../../../../support/doubles/memory/webhooks/pull-request-reader.ts";
import {
  type MemoryWebhookDeliveries,
  memoryWebhookDeliveries,
} from "../../../../support/doubles/memory/webhooks/webhook-deliveries.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { webhookDeliveryFixture } from "../../../../support/fixtures/webhooks/webhook-fixture.ts";
import { commitOf, pullRequestState } from "../../../../support/worlds/webhook-world.ts";

const NAME = "delivery";
const spec = { backend: { repository: "shop-api", branch: "main" } };
const create = (name: string): Decision => ({ do: "create", name, spec, reason: "Qualifies" });
const nothing: Decision = { do: "nothing", reason: "NoMatch", message: "no rule fits" };

let clock: TestClock;
let deliveries: MemoryWebhookDeliveries;
let environments: MemoryEnvironments;
let audit: MemoryAuditTrail;
let decisions: (context: DecisionContext) => Promise<readonly Decision[]> | readonly Decision[];
let users: EphemeralEnvironment[];
let reconcile: (name: string) => Promise<unknown>;

beforeEach(() => {
  clock = new TestClock("2026-06-01T12:00:00Z");
  deliveries = memoryWebhookDeliveries(clock);
  environments = memoryEnvironments(clock);
  audit = memoryAuditTrail();
  decisions = () => [nothing];
  users = [];
  const find = (name: string) => environments.list().find(({ metadata }) => metadata.name === name);
  const decisionContext = {
    clock,
    settings: { hosts: [] },
    deliveries,
    environments: { find, ofRepository: () => users },
    repositories: memoryRepositories(aRepository("shop-api")),
  } as unknown as DecisionContext;
  const reconciler = createDeliveryReconciler({
    clock,
    audit,
    decisionContext,
    log: silentLog,
    webhookDeliveries: deliveries,
    newId: () => "id",
    pullRequestReader: memoryPullRequestReader().reader,
    pullRequestHost: { report: async () => undefined },
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
    // The watch has not delivered it yet.
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

const awaited = {
  phase: "pending",
  reason: "NameTerminating",
  message: "",
  waitsSince: "2026-06-01T12:00:00.000Z",
} as const;
const opened = { type: "pull_request", pullRequest: pullRequestState() } as const;
const deletion = { type: "push", push: { branch: "main", deleted: true } } as const;
const pipeline = (id: number, letter: string, status: "success" | "running" = "success") =>
  ({
    type: "pipeline",
    pipeline: {
      project: "shop/shop-api",
      id,
      commit: commitOf(letter),
      branch: "main",
      status,
      at: "2026-06-01T11:59:00Z",
    },
  }) as const;

function put(name: string, event: WebhookDeliverySpec["event"], status?: WebhookDeliveryStatus, seconds = 0) {
  const receivedAt = new Date(Date.parse("2026-06-01T12:00:00Z") + seconds * 1000).toISOString();
  const { status: _, ...delivery } = webhookDeliveryFixture(name, { event, receivedAt, repositories: ["shop-api"] });
  deliveries.put(status === undefined ? delivery : { ...delivery, status });
}

describe("what waits for a name or a host", () => {
  test.each([
    ["a host that can't be asked", "HostUnavailable", new HostUnavailable("secret-api", 5)],
    ["a secret manager that can't be used", "SecretsUnavailable", new SecretsUnavailable()],
  ])("says so of %s, names no Repository, and fails after an hour", async (_what, reason, error) => {
    stored(waiting);
    decisions = () => Promise.reject(error);
    await expect(reconcile(NAME)).rejects.toThrow(error);
    expect(now()).toMatchObject({ phase: "pending", reason, waitsSince: "2026-06-01T12:00:00.000Z" });
    expect(now()?.message).not.toContain("secret-api");
    const version = deliveries.find(NAME)?.metadata.resourceVersion;
    clock.advance(HOUR_MS - 1);
    await expect(reconcile(NAME)).rejects.toThrow(error);
    expect(deliveries.find(NAME)?.metadata.resourceVersion).toBe(version);
    clock.advance(1);
    expect(await reconcile(NAME)).toEqual({});
    expect(now()).toMatchObject({ phase: "failed", reason });
    expect(now()).not.toHaveProperty("waitsSince");
  });

  test("fails an hour after it began to wait for a name, however long ago it came", async () => {
    stored(waiting);
    clock.advance(2 * HOUR_MS);
    const environment = await environments.create("one", spec);
    decisions = () => [{ do: "wait", environment, reason: "NameTerminating", message: "it is being deleted" }];
    expect(await reconcile(NAME)).toEqual({ requeueAfterMs: expect.any(Number) });
    expect(now()).toMatchObject({ phase: "pending", waitsSince: "2026-06-01T14:00:00.000Z" });
    clock.advance(HOUR_MS);
    expect(await reconcile(NAME)).toEqual({});
    expect(now()).toMatchObject({ phase: "failed", reason: "NameTerminating" });
  });

  test("waits once for a pull request: an older one ends as Superseded, undecided", async () => {
    put("older", opened, awaited);
    put("newer", opened, awaited, 1);
    decisions = () => [create("one")];
    await reconcile("older");
    expect(deliveries.find("older")?.status).toMatchObject({ phase: "ignored", reason: "Superseded" });
    expect(environments.list()).toEqual([]);
    await reconcile("newer");
    expect(deliveries.find("newer")?.status).toMatchObject({ phase: "acted" });
  });

  test("is decided when an environment wants the commit of its pipeline, although a newer one waits", async () => {
    users = [await environments.create("pinned", { backend: { ...spec.backend, commit: commitOf("a") } })];
    put("older", pipeline(1, "a"), awaited);
    put("newer", pipeline(2, "b"), awaited, 1);
    await reconcile("older");
    expect(deliveries.find("older")?.status?.reason).toBe("NoMatch");
  });

  test("is decided although a newer one of its pull request has its outcome, or is not decided yet", async () => {
    put("older", opened, awaited);
    put("ended", opened, { phase: "ignored", reason: "ActionCreatesNone", message: "" }, 1);
    put("undecided", opened, undefined, 2);
    decisions = () => [create("one")];
    await reconcile("older");
    expect(deliveries.find("older")?.status).toMatchObject({ phase: "acted" });
  });

  test.each<[string, string, WebhookDeliverySpec["event"], WebhookDeliverySpec["event"]]>([
    ["once for the deletion of a branch", "Superseded", deletion, deletion],
    ["once for the successes of a branch", "Superseded", pipeline(1, "a"), pipeline(2, "b")],
    ["for each status of a pipeline", "PipelineSucceeded", pipeline(1, "a"), pipeline(2, "b", "running")],
    ["for the newest pipeline, in whatever order they came", "PipelineSucceeded", pipeline(2, "b"), pipeline(1, "a")],
    ["for each run of a commit: another workflow's", "PipelineSucceeded", pipeline(1, "a"), pipeline(2, "a")],
    ["for each pull request", "PipelineSucceeded", opened, { ...opened, pullRequest: pullRequestState({ number: 8 }) }],
  ])("waits %s", async (_what, reason, older, newer) => {
    put("older", older, awaited);
    put("newer", newer, awaited, 1);
    decisions = () => [{ ...create("one"), reason: "PipelineSucceeded" }];
    await reconcile("older");
    expect(deliveries.find("older")?.status?.reason).toBe(reason);
  });
});
