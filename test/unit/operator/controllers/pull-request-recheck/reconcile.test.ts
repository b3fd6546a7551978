import { beforeEach, describe, expect, test } from "@jest/globals";
import { pullRequestsOf, type WebhookDelivery } from "../../../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import { createRecheck } from "../../../../../operator/controllers/pull-request-recheck/reconcile.ts";
import { decide } from "../../../../../operator/webhooks/decide.ts";
import { memoryAuditTrail } from "../../../../support/doubles/memory/audit-trail.ts";
import { type MemoryEnvironments, memoryEnvironments } from "../../../../support/doubles/memory/environments.ts";
import { memoryDecidedWrites } from "../../../../support/doubles/memory/webhooks/decided-writes.ts";
import { memoryPullRequestReader } from "../../../../support/doubles/memory/webhooks/pull-request-reader.ts";
import {
  type MemoryWebhookDeliveries,
  memoryWebhookDeliveries,
} from "../../../../support/doubles/memory/webhooks/webhook-deliveries.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { webhookDeliveryFixture } from "../../../../support/fixtures/webhooks/webhook-fixture.ts";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const NAME = "shop-api-pr-7";
const OPENED = { action: "opened", updatedAt: "2026-06-01T12:00:00Z" } as const;
const CLOSED = { action: "closed", state: "closed", updatedAt: "2026-06-01T12:00:01Z" } as const;
const IGNORED = { phase: "ignored", reason: "Closed", message: "the pull request has no environment" } as const;

let deliveries: MemoryWebhookDeliveries;
let environments: MemoryEnvironments;
let recheck: () => Promise<unknown>;
let reader: ReturnType<typeof memoryPullRequestReader>;

beforeEach(async () => {
  const clock = new TestClock("2026-06-01T12:00:10Z");
  deliveries = memoryWebhookDeliveries(clock);
  environments = memoryEnvironments(clock);
  reader = memoryPullRequestReader();
  const token = { name: "host-token", key: "latest" };
  const hosts = [{ id: "git", kind: "github", apiUrl: "https://git.test", token }] as const;
  const { context } = new WebhookWorld({ repositories: [shopApi({ host: "git" })], settings: { hosts: [...hosts] } });
  const found = (name: string) => environments.list().find(({ metadata }) => metadata.name === name);
  const reconcile = createRecheck({
    clock,
    decide,
    newId: () => "id",
    audit: memoryAuditTrail(),
    webhookDeliveries: deliveries,
    decisionContext: {
      ...context,
      deliveries,
      clock,
      environments: { find: found, ofRepository: () => environments.list() },
    },
    writes: memoryDecidedWrites(environments),
    pullRequestReader: reader.reader,
    pullRequestHost: { report: async () => undefined },
  });
  const { signal } = new AbortController();
  recheck = async () => reconcile(NAME, { signal, requeueUrgently: () => undefined });
  await environments.create(NAME, {
    backend: { repository: "shop-api", branch: "feature", commit: commitOf("a") },
    trigger: { kind: "pull_request", provider: "git", repository: "shop-api", number: 7 },
  });
});

function put(name: string, state: Partial<PullRequestState>, status: WebhookDelivery["status"] = IGNORED) {
  const event = { type: "pull_request", pullRequest: pullRequestState(state) } as const;
  const { status: _, ...made } = webhookDeliveryFixture(name, { host: "git", repositories: ["shop-api"], event });
  expect(pullRequestsOf(made)).toHaveLength(1);
  deliveries.put(status === undefined ? made : { ...made, status });
}
const stored = (name: string) => deliveries.find(name)?.status;
const environment = () => environments.list().find(({ metadata }) => metadata.name === NAME);
const isDeleted = () => environment()?.metadata.deletionTimestamp !== undefined;

describe("the environment of a pull request is decided once more", () => {
  test("and deleted when another replica took the end of the pull request, which reports it then", async () => {
    put("closed", CLOSED);
    put("opened", OPENED, { phase: "acted", reason: "RulesMet", message: "" });
    await recheck();
    expect(isDeleted()).toBe(true);
    expect(stored("closed")).toMatchObject({ phase: "acted", reason: "Closed", environments: [{ action: "deleted" }] });
    expect(stored("opened")?.reason).toBe("RulesMet");
  });

  test("and moved to the commit that another replica received", async () => {
    put("opened", OPENED);
    put("pushed", { action: "synchronize", headCommit: commitOf("b"), updatedAt: CLOSED.updatedAt });
    await recheck();
    expect(environment()?.spec.backend.commit).toBe(commitOf("b"));
    expect(stored("pushed")).toMatchObject({ phase: "acted", reason: "NewCommit" });
  });

  test("after its host was asked which of two states of one second is the newest", async () => {
    put("opened", OPENED);
    put("closed", { ...CLOSED, updatedAt: OPENED.updatedAt });
    reader.has(pullRequestState({ updatedAt: OPENED.updatedAt }));
    await recheck();
    expect(reader.requests).toEqual([7]);
    expect(isDeleted()).toBe(false);
  });

  test("and nothing is written when it is as it should be", async () => {
    put("opened", OPENED);
    const before = [environment(), deliveries.list()];
    await recheck();
    expect([environment(), deliveries.list()]).toEqual(before);
  });

  test("but not while a delivery of the pull request is still to be decided, nor without any", async () => {
    await recheck();
    put("opened", OPENED);
    put("closed", CLOSED);
    const { status: _, ...undecided } = deliveries.find("opened") as WebhookDelivery;
    deliveries.put(undecided);
    await recheck();
    expect(isDeleted()).toBe(false);
  });

  test("and never made again when it is gone meanwhile", async () => {
    put("opened", OPENED);
    const found = environment();
    if (found !== undefined) await environments.remove(found);
    environments.finishRemoval(NAME);
    await recheck();
    expect(environments.list()).toEqual([]);
  });
});
