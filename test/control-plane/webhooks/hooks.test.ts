import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { findCondition } from "../../../crds/conditions.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import { repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { type ChatServer, startChatServer } from "../../support/doubles/chat-server.ts";
import { gitlabHooks } from "../../support/doubles/host-hooks/gitlab.ts";
import type { HostHooks } from "../../support/doubles/host-hooks/host-hook.ts";
import { startRecordingHost } from "../../support/doubles/recording-host.ts";
import { shareSecret } from "../../support/fixtures/shared-secret.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

const namespace = "ephemeral-system";
const publicUrl = "https://environments.example.test";
const KEY = "a-key-of-thirty-two-bytes-or-more";
const ref = (name: string) => ({ name, key: "latest" });

let world: World;
let chat: ChatServer;
let host: HostHooks;
let api: Awaited<ReturnType<typeof startRecordingHost>>;

beforeAll(async () => {
  [world, chat] = await Promise.all([createWorld(), startChatServer()]);
  const values = { "host-token": "the-token", "chat-shop": chat.url("shop"), "webhook-key": KEY };
  for (const [name, value] of Object.entries(values)) await shareSecret(world, name, value);
}, 180_000);
afterEach(async () => {
  await world.abandonOperators();
  await api.stop();
}, 60_000);
afterAll(() => Promise.all([world.stop(), chat.stop()]), 60_000);

async function started(hostSettings: object = { token: ref("host-token") }) {
  host = gitlabHooks();
  api = await startRecordingHost(host.routes, "/api/v4");
  const settings = settingsFrom({
    ...testSettings,
    publicUrl,
    hosts: [{ id: "git", kind: "gitlab", apiUrl: api.apiUrl, ...hostSettings }],
    webhooks: { secrets: [ref("webhook-key")] },
    notifications: { chat: { webhooks: [{ channel: "shop", urlRef: ref("chat-shop") }] } },
  });
  return () => world.startOperator({ settings });
}

const found = async (name: string): Promise<Repository> => {
  const repository = await world.admin.find(repositoryType, { name, namespace });
  if (repository === undefined) throw new Error(`no Repository '${name}'`);
  return repository;
};
const conditionOf = async (name: string) => findCondition((await found(name)).status?.conditions, "WebhookActive");
const untilState = (name: string, state: string) =>
  until(
    async () => {
      const { status, reason } = (await conditionOf(name)) ?? {};
      return `${status} ${reason}` === state;
    },
    { what: `WebhookActive of '${name}' being '${state}'`, deadlineMs: 30_000 },
  );
const recheck = async ({ operator }: RunningOperator, name: string) =>
  operator.ports.repositoryReloads.request(await found(name));
const alerts = () =>
  chat.received.map(({ body }) => JSON.parse(body).text as string).filter((text) => text.startsWith("Webhooks of"));

describe("the condition WebhookActive", () => {
  test("reports a hook as missing, registered, paused by its host, and active again; people hear of the pause", async () => {
    const start = await started();
    const hosted = { host: "git", fullName: "shop/hooked", notify: { chatChannel: "shop" } };
    await world.register("hooked", hosted);
    const running = await start();
    await untilState("hooked", "False HookMissing");

    await running.operator.ports.webhookRegistrar.register(await found("hooked"));
    await recheck(running, "hooked");
    await untilState("hooked", "True HookActive");
    expect(host.hooks).toMatchObject([{ secret: KEY, fields: { url: `${publicUrl}/api/webhooks/repohost` } }]);
    expect(alerts()).toEqual([]);

    const [hook] = host.hooks;
    if (hook === undefined) throw new Error("there is no hook");
    hook.fields = { ...hook.fields, alert_status: "disabled" };
    host.answer = 503;
    await recheck(running, "hooked");
    await untilState("hooked", "False HookPaused");
    await until(() => alerts().length > 0, { what: "an alert", deadlineMs: 10_000 });
    expect(alerts()).toEqual([expect.stringContaining("Webhooks of *hooked* may not arrive: HookPaused")]);

    host.answer = 200;
    await recheck(running, "hooked");
    await world.hurried(() => untilState("hooked", "True HookActive"));
    expect(hook.fields.alert_status).toBe("executable");

    const { resourceVersion } = (await found("hooked")).metadata;
    await running.stop();
    const before = api.calls.length;
    await start();
    await until(() => api.calls.length > before, { what: "a look at the start", deadlineMs: 10_000 });
    expect((await found("hooked")).metadata.resourceVersion).toBe(resourceVersion);
    expect(alerts()).toHaveLength(1);
  }, 120_000);

  test("reports a hook that worked and is gone", async () => {
    const start = await started();
    await world.register("unhooked", { host: "git", fullName: "shop/unhooked", notify: { chatChannel: "shop" } });
    const running = await start();
    await untilState("unhooked", "False HookMissing");
    await running.operator.ports.webhookRegistrar.register(await found("unhooked"));
    await recheck(running, "unhooked");
    await untilState("unhooked", "True HookActive");
    host.hooks.length = 0;
    await recheck(running, "unhooked");
    await untilState("unhooked", "False HookMissing");
    const about = () => alerts().filter((text) => text.includes("*unhooked*"));
    await until(() => about().length > 0, { what: "an alert", deadlineMs: 10_000 });
    expect(about()).toEqual([expect.stringContaining("HookMissing")]);
  }, 120_000);

  test("is unknown without a token, and absent without a host", async () => {
    const start = await started({});
    await world.register("untold", { host: "git", fullName: "shop/untold" });
    await world.register("neutral");
    await start();
    await untilState("untold", "Unknown TokenMissing");
    await until(async () => (await found("neutral")).status?.lastCheckedAt !== undefined, {
      what: "a check of 'neutral'",
      deadlineMs: 30_000,
    });
    expect(await conditionOf("neutral")).toBeUndefined();
    expect((await conditionOf("untold"))?.message).toContain("Set token of host 'git' in the settings");
    expect(api.calls).toEqual([]);
  }, 60_000);
});
