import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { verifyExtension } from "../../../crds/notifications/extension-token.ts";
import { notificationType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { eventKind, secretKind } from "../../../operator/kit/client/kinds.ts";
import { systemClock } from "../../../operator/kit/time/clock.ts";
import { type ChatServer, startChatServer } from "../../support/doubles/chat-server.ts";
import { type MailServer, startMailServer } from "../../support/doubles/mail-server.ts";
import { clockAhead, serverClockAhead } from "../../support/faults/skewed-clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { notificationSettings } from "../../support/fixtures/webhooks/notification-settings.ts";
import { backendOnly, createWorld, type RunningOperator, type World } from "../../support/worlds/environment-world.ts";

const namespace = "ephemeral-system";
const owner = { subject: "https://issuer.test#dev", email: "dev@example.test", name: "Dev" };

let world: World;
let chat: ChatServer;
let mail: MailServer;
let settings: Settings;
let running: RunningOperator | undefined;

beforeAll(async () => {
  [world, chat, mail] = await Promise.all([createWorld(), startChatServer(), startMailServer()]);
  settings = notificationSettings({
    chat: { webhooks: [{ channel: "shop", urlRef: { name: "chat-shop", key: "latest" } }] },
    email: { smtp: { host: "127.0.0.1", port: mail.port, from: "platform@example.test" } },
  });
  const labels = { "ephemeral-environments.dev/shared": "true" };
  const data = { "1": Buffer.from(chat.url("shop")).toString("base64") };
  await world.admin.create(secretKind, {
    metadata: { name: "chat-shop", namespace: "ephemeral-secrets", labels },
    data,
  });
  await world.register("reported-backend", { notify: { chatChannel: "shop" } });
}, 180_000);
afterAll(async () => {
  await Promise.all([world.stop(), chat.stop(), mail.stop()]);
}, 60_000);
afterEach(() => running?.stop());

const reported = { backend: { ...backendOnly.backend, repository: "reported-backend" } };

async function operate(hoursAhead = 0): Promise<void> {
  await running?.stop();
  const clocks = { clock: clockAhead(hoursAhead), serverClock: serverClockAhead(hoursAhead) };
  running = await world.startOperator({ settings, ...(hoursAhead === 0 ? { clock: systemClock } : clocks) });
}

const textsAbout = (name: string) =>
  chat.received.map(({ body }) => JSON.parse(body).text as string).filter((text) => text.includes(`*${name}*`));
const messagesAbout = async (name: string) => {
  const { items } = await world.admin.list(notificationType, { namespace });
  return items.filter(({ spec }) => spec.environment?.name === name);
};
const mailsTo = (environment: EphemeralEnvironment) =>
  mail.received.filter(({ source }) => source.includes(`Subject: ${environment.metadata.name} expires`));
const untilReported = (name: string, ends: string) =>
  until(() => Promise.resolve(textsAbout(name).at(-1)?.includes(ends) === true), {
    what: `the chat hearing that '${name}' ${ends}`,
    deadlineMs: 3e4,
  });

describe("messages about an environment", () => {
  test("come once for each change, from a restarted operator, too", async () => {
    await operate();
    const name = "reported-once";
    const made = await world.create(name, reported);
    await world.expectPhase(name, "ready");
    await untilReported(name, "is ready");
    expect(textsAbout(name)).toEqual([
      expect.stringContaining("is being created: reported-backend main"),
      expect.stringContaining(`is ready: https://${name}--api.env.localhost:18443/`),
    ]);
    await operate();
    await world.reconcile(name);
    // Even without the sent messages, because the environment has the announcements.
    for (const { metadata } of await messagesAbout(name)) await world.admin.delete(notificationType, metadata);
    await operate();
    await world.reconcile(name);
    await world.delete(made);
    await world.expectGone(made);
    await untilReported(name, "is deleted");
    expect(textsAbout(name)).toHaveLength(3);
  }, 120_000);

  test("are tried again while the chat is away, and given up after a day", async () => {
    chat.answer(503);
    await operate();
    const name = "reported-later";
    await world.create(name, { ...reported, ttlHours: 168 });
    const tried = (attempts: number) =>
      until(
        async () => {
          const [first] = (await messagesAbout(name)).filter(({ spec }) => spec.event === "created");
          return (first?.status?.attempts ?? 0) >= attempts && first?.status?.nextAttemptAt !== undefined;
        },
        { what: `${attempts} attempts`, deadlineMs: 40_000 },
      );
    await tried(2);
    await operate(25);
    const givenUp = async () => (await messagesAbout(name)).filter(({ status }) => status?.phase === "failed");
    await until(async () => (await givenUp()).length > 0, { what: "a dead letter", deadlineMs: 30_000 });
    expect((await givenUp())[0]?.status).toMatchObject({ phase: "failed", message: "the chat answered 503" });
    const { items } = await world.admin.list(eventKind, { namespace });
    const reasons = items.map((event) => (event as { reason?: string }).reason);
    expect(reasons).toContain("NotificationFailed");
    chat.answer(200);
  }, 120_000);

  test("warn the owner a day and an hour before the expiry, once each, with a link", async () => {
    await operate();
    const name = "reported-expiry";
    const made = await world.create(name, { ...backendOnly, ttlHours: 48, owner });
    await world.expectPhase(name, "ready");
    const untilMailed = (count: number) =>
      until(() => Promise.resolve(mailsTo(made).length >= count), { what: `${count} warnings`, deadlineMs: 30_000 });
    for (const [hours, count] of [
      [25, 1],
      [47.5, 2],
    ] as const) {
      await operate(hours);
      await untilMailed(count);
      await operate(hours);
      await world.reconcile(name);
      expect(mailsTo(made)).toHaveLength(count);
    }
    expect(new Set(mailsTo(made).map(({ to }) => to.join()))).toEqual(new Set([owner.email]));
    const [, token = ""] = /extensions\/([\w.-]+)/.exec((mailsTo(made)[0]?.source ?? "").replaceAll("=\r\n", "")) ?? [];
    const key = await running?.operator.ports.extensionKey();
    expect(key && verifyExtension(token, key, new Date())).toMatchObject({ uid: made.metadata.uid, addedHours: 24 });
    expect(JSON.stringify(await messagesAbout(name))).not.toContain(token);
    await world.delete(made);
    await world.expectGone(made);
  }, 120_000);
});
