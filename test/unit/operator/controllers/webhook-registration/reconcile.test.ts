import { describe, expect, test } from "@jest/globals";
import { type Condition, findCondition } from "../../../../../crds/conditions.ts";
import type { RepositorySpec, RepositoryStatus } from "../../../../../crds/repository/repository.ts";
import { createHookAlert } from "../../../../../operator/announcements/announcer.ts";
import { createHookReconciler } from "../../../../../operator/controllers/webhook-registration/reconcile.ts";
import { PullRequestHostFailed } from "../../../../../operator/ports/webhooks/pull-request-host.ts";
import { memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { memorySecretManager } from "../../../../support/doubles/memory/secret-manager.ts";
import { memoryNotifications } from "../../../../support/doubles/memory/webhooks/notifications.ts";
import { memoryRepositoryHooks } from "../../../../support/doubles/memory/webhooks/repository-hooks.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { CREATED, repositoryFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { notificationSettings } from "../../../../support/fixtures/webhooks/notification-settings.ts";
import { recordingLog } from "../../../../support/http/api-service.ts";
import { hookSettings, shareWebhookKeys, webhookKeySettings } from "../../../../support/http/memory-webhooks.ts";

const url = "https://environments.example.test/platform/api/webhooks/repohost";
const { signal } = new AbortController();
const hook = { id: "7", url, events: ["push"], state: "active", faults: [] } as const;

function scene(former?: Pick<Condition, "status" | "reason">, spec: Partial<RepositorySpec> = { host: "git" }) {
  const clock = new TestClock(CREATED);
  const base = repositoryFixture("shop-api", { notify: { chatChannel: "shop", events: ["ready"] }, ...spec });
  const condition = { type: "WebhookActive", message: "", lastTransitionTime: CREATED, observedGeneration: 1 };
  const ready = { ...condition, type: "Ready", status: "True", reason: "Checked" } as const;
  const conditions = [ready, ...(former === undefined ? [] : [{ ...condition, ...former }])];
  const repositories = memoryRepositories({ ...base, status: { reachable: true, conditions } });
  const settings = notificationSettings({}, { ...hookSettings, webhooks: webhookKeySettings });
  const secretManager = memorySecretManager();
  shareWebhookKeys(secretManager);
  const hooks = memoryRepositoryHooks();
  const notifications = memoryNotifications(clock);
  const lines: Parameters<typeof recordingLog>[0] = [];
  const written: RepositoryStatus[] = [];
  let isStored = true;
  const reconcile = createHookReconciler({
    settings,
    repositories,
    secretManager,
    hooks,
    clock,
    log: recordingLog(lines),
    alertOfHook: createHookAlert({ settings, repositories, notifications, clock }),
    repositoryStatusWriter: {
      async writeStatus(repository, status) {
        if (!isStored) throw new Error("conflict");
        written.push(status);
        repositories.put({ ...repository, status });
        return { ...repository, status };
      },
    },
  });
  return {
    hooks,
    notifications,
    lines,
    written,
    refuseWrites: (refused: boolean) => {
      isStored = !refused;
    },
    run: () => reconcile("shop-api", { signal, requeueUrgently: () => undefined }),
    condition: () => findCondition(written.at(-1)?.conditions, "WebhookActive"),
  };
}

const ACTIVE = { status: "True", reason: "HookActive" } as const;

describe("the condition of a hook", () => {
  test("is stored beside the others, and once", async () => {
    const { hooks, run, condition, written } = scene();
    hooks.all.push(hook);
    expect(await run()).toEqual({});
    await run();
    expect(condition()).toMatchObject(ACTIVE);
    expect(written).toHaveLength(1);
    expect(written[0]).toMatchObject({ reachable: true, conditions: [{ type: "Ready" }, { type: "WebhookActive" }] });
  });

  test("goes when the Repository names no host any more", async () => {
    const { run, written } = scene(ACTIVE, {});
    await run();
    expect(written.at(-1)?.conditions?.map(({ type }) => type)).toEqual(["Ready"]);
  });

  test("is unknown while the host can't be asked, which is tried again", async () => {
    const { hooks, run, condition, notifications } = scene(ACTIVE);
    hooks.fail(new PullRequestHostFailed("no answer"));
    expect(await run()).toEqual({ requeueAfterMs: 300_000 });
    expect(condition()).toMatchObject({ status: "Unknown", reason: "HostUnavailable" });
    expect(notifications.specs()).toEqual([]);
  });

  test("is true although each event comes twice", async () => {
    const { hooks, run, condition } = scene();
    hooks.all.push(hook, { ...hook, id: "8" });
    await run();
    expect(condition()).toMatchObject(ACTIVE);
  });
});

describe("people are notified of a hook", () => {
  test.each([
    ["that worked and is gone", ACTIVE, [], "HookMissing"],
    ["that a person switched off", ACTIVE, [{ ...hook, state: "inactive" as const }], "HookInactive"],
    [
      "that is gone when its host is back",
      { status: "Unknown", reason: "HostUnavailable" } as const,
      [],
      "HookMissing",
    ],
    ["that its host paused", undefined, [{ ...hook, state: "paused" as const }], "HookPaused"],
  ])("%s", async (_what, former, all, reason) => {
    const { hooks, run, notifications, lines } = scene(former);
    hooks.all.push(...all);
    await run();
    await run();
    expect(notifications.specs()).toMatchObject([
      { channel: "chat", to: "shop", event: "webhook", facts: { repository: "shop-api", reason } },
    ]);
    expect(lines).toMatchObject([{ level: "warn", facts: { repository: "shop-api", reason } }]);
  });

  test.each([
    ["that was never there", undefined],
    ["whose state is reported already", { status: "False", reason: "HookMissing" } as const],
  ])("not %s", async (_what, former) => {
    const { run, notifications } = scene(former);
    await run();
    expect(notifications.specs()).toEqual([]);
  });

  test("once, also when the condition could not be stored after it", async () => {
    const { run, notifications, refuseWrites } = scene(ACTIVE);
    refuseWrites(true);
    await expect(run()).rejects.toThrow("conflict");
    refuseWrites(false);
    await run();
    expect(notifications.list()).toHaveLength(1);
  });
});

describe("a hook that its host paused", () => {
  const paused = { ...hook, state: "paused" } as const;

  test("goes on, and is looked at again soon", async () => {
    const { hooks, run, condition } = scene();
    hooks.all.push(paused);
    expect(await run()).toEqual({ requeueAfterMs: 10_000 });
    expect(hooks.resumed).toEqual(["7"]);
    expect(await run()).toEqual({});
    expect(condition()).toMatchObject(ACTIVE);
  });

  test("of another address, and one that a person switched off, are left alone", async () => {
    const { hooks, run } = scene();
    hooks.all.push({ ...paused, url: "https://old.example.test/api/webhooks/repohost" });
    hooks.all.push({ ...hook, id: "8", state: "inactive" });
    expect(await run()).toEqual({});
    expect(hooks.resumed).toEqual([]);
  });
});
