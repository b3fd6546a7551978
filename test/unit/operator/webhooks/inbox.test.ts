import { expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../config/settings.ts";
import { digestOf } from "../../../../crds/digest.ts";
import { CreationFailed } from "../../../../crds/errors.ts";
import type { PullRequestState } from "../../../../crds/webhooks/webhook-event.schema.ts";
import { laterTurn } from "../../../../operator/kit/time/yield-if-due.ts";
import { memoryAuditTrail } from "../../../support/doubles/memory/audit-trail.ts";
import { memoryBranchHeads } from "../../../support/doubles/memory/branch-heads.ts";
import { memoryEnvironments } from "../../../support/doubles/memory/environments.ts";
import { memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";
import { testSettings } from "../../../support/fixtures/test-settings.ts";
import { memoryWebhooks } from "../../../support/http/memory-webhooks.ts";
import { commitOf, pullRequestState, shopApi } from "../../../support/worlds/webhook-world.ts";

const updatedAt = "2026-06-01T11:59:00.000Z";

function scene(token?: { readonly name: string; readonly key: string }) {
  const clock = new TestClock("2026-06-01T12:00:00Z");
  const audit = memoryAuditTrail();
  const environments = memoryEnvironments(clock);
  const repository = shopApi({ host: "git" });
  const host = { id: "git", kind: "github", apiUrl: "https://git.test", ...(token && { token }) };
  const { webhookInbox, webhookDeliveries } = memoryWebhooks({
    clock,
    environments,
    audit,
    log: silentLog,
    branchHeads: memoryBranchHeads(),
    settings: settingsFrom({ ...testSettings, hosts: [host] }),
    repositories: memoryRepositories(repository),
    configSets: { find: () => undefined },
    secretManager: { read: async () => undefined } as never,
  });
  const accept = (id: string, more: Partial<PullRequestState>) =>
    webhookInbox.accept({
      received: { source: "repohost", headers: {} },
      digest: digestOf([id]).padEnd(64, "0"),
      delivery: { eventName: "pull_request", deliveryId: id },
      repositories: [repository],
      host: "git",
      sender: "shop/shop-api",
      event: { type: "pull_request", pullRequest: pullRequestState({ updatedAt, ...more }) },
    });
  const { create, failNext } = environments;
  /** Makes creations wait; returns the function that lets them go on. */
  function hang(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    environments.create = (...args) => promise.then(() => create(...args));
    return resolve;
  }
  const commits = () => environments.list().map(({ spec }) => spec.backend.commit);
  return { accept, clock, commits, failNext, hang, webhookDeliveries, webhookInbox, audit };
}

test("a redelivery waits for what is under way as long as its host does, and decides nothing twice", async () => {
  const { accept, clock, commits, hang } = scene();
  const goOn = hang();
  const first = accept("one", {});
  await laterTurn("background");
  const second = accept("one", {});
  await laterTurn("background");
  clock.advance(5_000);
  expect(await Promise.all([first, second])).toMatchObject([
    { state: "pending", reason: "Stored" },
    { state: "pending", reason: "Stored" },
  ]);
  goOn();
  expect(await accept("one", {})).toMatchObject({ state: "duplicate" });
  expect(commits()).toEqual([commitOf("a")]);
});

test("an unclear webhook is left to the operator, because no host is asked while a host waits", async () => {
  const { accept, commits, webhookDeliveries } = scene({ name: "host-token", key: "latest" });
  expect(await accept("one", {})).toMatchObject({ state: "acted" });
  const doubtful = await accept("two", { action: "synchronize", headCommit: commitOf("b") });
  expect(doubtful).toMatchObject({ state: "pending", reason: "HostCheckPending" });
  expect(commits()).toEqual([commitOf("a")]);
  expect(webhookDeliveries.pending().map(({ metadata }) => metadata.name)).toEqual([doubtful.delivery]);
});

test("an unclear webhook is decided by what is known where the settings have no token of its host", async () => {
  const { accept, commits } = scene();
  await accept("one", {});
  expect(await accept("two", { action: "synchronize", headCommit: commitOf("b") })).toMatchObject({ state: "acted" });
  expect(commits()).toEqual([commitOf("b")]);
});

test("a webhook whose creation is refused for missing rights is left to the operator", async () => {
  const { accept, failNext, webhookDeliveries } = scene();
  failNext(new CreationFailed());
  const message = "the environment: Failed to create environment";
  const refused = await accept("one", {});
  expect(refused).toMatchObject({ state: "pending", reason: "Refused", message });
  expect(webhookDeliveries.pending().map(({ metadata }) => metadata.name)).toEqual([refused.delivery]);
});

test.each([
  ["creates", [], {}],
  ["updates", [{}], { action: "synchronize", headCommit: commitOf("b") }],
  ["deletes", [{}], { action: "closed", state: "closed", merged: true }],
] as const)(
  "abuse case 120: a webhook that %s does so only when that can be recorded",
  async (_what, before, change) => {
    const { accept, commits, webhookDeliveries, webhookInbox, audit } = scene();
    for (const earlier of before) await accept("earlier", earlier);
    const [former, recorded] = [commits(), audit.records.length];
    audit.setWritable(false);
    const outcome = await accept("late", change as Partial<PullRequestState>);
    expect(outcome).toMatchObject({ state: "pending", reason: "AuditUnavailable" });
    expect(commits()).toEqual(former);
    const [left] = webhookDeliveries.pending();
    expect(left?.metadata.name).toBe(outcome.delivery);

    audit.setWritable(true);
    if (left !== undefined) await webhookInbox.redeliver(left);
    expect(audit.records).toHaveLength(recorded + 1);
    expect(audit.records.at(-1)).toMatchObject({ actor: { method: "webhook", delivery: outcome.delivery } });
  },
);
