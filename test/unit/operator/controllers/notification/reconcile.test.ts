import { describe, expect, test } from "@jest/globals";
import { DAY_MS, HOUR_MS } from "../../../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { verifyExtension } from "../../../../../crds/notifications/extension-token.ts";
import {
  CREATED,
  environmentFixture,
  minutesLater,
  UID,
} from "../../../../support/fixtures/environment/environment-fixture.ts";
import { notificationSettings } from "../../../../support/fixtures/webhooks/notification-settings.ts";
import { scene } from "./delivery-scene.ts";

describe("the delivery of a message", () => {
  test("sends it, and notes that", async () => {
    const { add, reconcile, find, chat } = scene();
    const name = await add();
    expect(await reconcile()).toEqual({ requeueAfterMs: 0 });
    expect(chat.posted).toMatchObject([{ url: "http://127.0.0.1:9/shop", text: expect.stringContaining("*shop-1*") }]);
    expect(find(name).status).toEqual({ phase: "sent", attempts: 1, sentAt: CREATED });
    expect(await reconcile()).toBeUndefined();
    expect(chat.posted).toHaveLength(1);
  });

  test("is noted later when the API server is away, and not sent again", async () => {
    const { add, reconcile, find, chat, notifications } = scene();
    const name = await add();
    notifications.failToFinish(2);
    await expect(reconcile()).rejects.toThrow("away");
    await expect(reconcile()).rejects.toThrow("away");
    expect(await reconcile()).toEqual({ requeueAfterMs: 1_000 });
    expect(find(name).status).toEqual({ phase: "sent", attempts: 1, sentAt: CREATED });
    expect(await reconcile()).toBeUndefined();
    expect(chat.posted).toHaveLength(1);
  });

  test("sends the messages of a channel in the order in which they were made", async () => {
    const { add, reconcile, chat, clock } = scene();
    for (const _ of [1, 2, 3]) {
      await add();
      clock.advance(1);
    }
    for (const _ of [1, 2, 3]) await reconcile();
    expect(chat.posted.map(({ text }) => /shop-\d/.exec(text)?.[0])).toEqual(["shop-1", "shop-2", "shop-3"]);
  });

  test("notes an attempt before it begins: a process that finds it noted sends nothing", async () => {
    const { add, find, notifications, reconcile, chat } = scene();
    const known = find(await add());
    const begun = { phase: "pending", attempts: 1, nextAttemptAt: minutesLater(1).toISOString() } as const;
    expect(await notifications.claim(known, begun)).toBeDefined();
    expect(await notifications.claim(known, begun)).toBeUndefined();
    expect(await reconcile()).toEqual({ requeueAfterMs: 60_000 });
    expect(chat.posted).toEqual([]);
  });

  test("repeats one whose attempt was never noted as over, after the attempt's longest time", async () => {
    const { add, find, notifications, reconcile, chat, clock } = scene();
    const known = find(await add());
    await notifications.claim(known, { phase: "pending", attempts: 1, nextAttemptAt: minutesLater(1.5).toISOString() });
    clock.advance(90_000);
    await reconcile();
    expect(chat.posted).toHaveLength(1);
  });

  test("tries again with growing delays of an hour at most, and gives up after a day", async () => {
    const { add, reconcile, find, chat, clock, events } = scene();
    const name = await add();
    chat.be("fails");
    const delays: number[] = [];
    while (find(name).status?.phase !== "failed") {
      await reconcile();
      const waitMs = (await reconcile())?.requeueAfterMs ?? 0;
      delays.push(waitMs / 1000);
      clock.advance(waitMs);
    }
    expect(delays.slice(0, 6)).toEqual([10, 20, 40, 80, 160, 320]);
    expect(Math.max(...delays)).toBe(3600);
    expect(clock.now().getTime() - Date.parse(CREATED)).toBeGreaterThanOrEqual(DAY_MS);
    expect(clock.now().getTime() - Date.parse(CREATED)).toBeLessThan(DAY_MS + 2 * HOUR_MS);
    expect(find(name).status).toMatchObject({ phase: "failed", message: "it fails" });
    expect(events.list()).toEqual([
      expect.objectContaining({ reason: "NotificationFailed", message: expect.stringContaining("channel 'shop'") }),
    ]);
  });

  test("waits as long as it is asked to, with all messages of the channel and no other", async () => {
    const { add, reconcile, chat, mail, clock } = scene();
    await add();
    await add();
    await add({ channel: "email", to: "dev@example.test" });
    chat.be({ retryAfterSeconds: 600 });
    await reconcile();
    expect(await reconcile()).toEqual({ requeueAfterMs: 600_000 });
    await reconcile("email/dev@example.test");
    expect(mail.sent).toHaveLength(1);
    chat.be("takes");
    clock.advance(600_000);
    await reconcile();
    await reconcile();
    expect(chat.posted).toHaveLength(2);
  });

  test("gives up at once what is refused, and goes on with the next", async () => {
    const { add, reconcile, find, chat, events } = scene();
    const refused = await add();
    chat.be("refuses");
    await reconcile();
    expect(find(refused).status).toMatchObject({ phase: "failed", attempts: 1, message: "it refuses the message" });
    expect(events.list()).toHaveLength(1);
    chat.be("takes");
    const next = await add();
    await reconcile();
    expect(find(next).status).toMatchObject({ phase: "sent" });
  });

  test("writes to no channel that the settings don't list", async () => {
    const { add, reconcile, find, chat } = scene();
    const name = await add({ to: "general" });
    await reconcile("chat/general");
    expect(chat.posted).toEqual([]);
    expect(find(name).status).toMatchObject({ phase: "failed", message: expect.stringContaining("'general'") });
  });

  test("tries again while the secret manager is away, or has no address yet", async () => {
    const { add, reconcile, find, secretManager } = scene();
    const known = await add();
    secretManager.setReachable(false);
    await reconcile();
    expect(find(known).status).toMatchObject({ phase: "pending", message: "the secret manager can't be used" });
    secretManager.setReachable(true);
    const missing = await add({ to: "ops" });
    await reconcile("chat/ops");
    expect(find(missing).status).toMatchObject({
      phase: "pending",
      message: expect.stringContaining("chat-ops@latest"),
    });
  });
});

describe("abuse case 123: messages for a destination that takes none", () => {
  const settings = notificationSettings({ pendingPerDestination: 3 });
  const namesOf = (list: readonly { spec: { facts: { environment?: string } } }[]) =>
    list.map(({ spec }) => spec.facts.environment);

  test("wait up to a bound: the oldest beyond it are given up, which is logged", async () => {
    const { add, reconcile, chat, notifications, events, clock } = scene({ settings });
    const addOne = async (to = "shop") => {
      clock.advance(1);
      return add({ to });
    };
    chat.be("fails");
    await addOne("ops");
    await addOne();
    await reconcile();
    for (const _ of [1, 2, 3, 4]) await addOne();
    const before = chat.posted.length;
    await reconcile();
    expect(namesOf(notifications.pendingFor("chat/shop"))).toEqual(["shop-2", "shop-5", "shop-6"]);
    const dropped = notifications.list().filter(({ status }) => status?.phase === "failed");
    expect(namesOf(dropped)).toEqual(["shop-3", "shop-4"]);
    for (const { status } of dropped) {
      expect(status).toMatchObject({ attempts: 0, message: "more than 3 messages wait for the destination" });
    }
    expect(events.list()).toEqual([
      expect.objectContaining({ reason: "NotificationsDropped", message: expect.stringContaining("channel 'shop'") }),
    ]);
    // The pause after a failure continues.
    expect(chat.posted).toHaveLength(before);
    expect(notifications.pendingFor("chat/ops")).toHaveLength(1);

    chat.be("takes");
    clock.advance(10_000);
    for (const _ of [1, 2, 3]) await reconcile();
    expect(notifications.pendingFor("chat/shop")).toEqual([]);
  });

  test("are reported without the address of a person", async () => {
    const { add, reconcile, mail, events } = scene({ settings });
    const destination = { channel: "email", to: "dev@example.test" } as const;
    for (const _ of [1, 2, 3, 4, 5]) await add(destination);
    await reconcile("email/dev@example.test");
    expect(mail.sent).toHaveLength(1);
    expect(JSON.stringify(events.list())).not.toContain("dev@");
    expect(events.list()).toHaveLength(1);
  });
});

describe("the delivery of a warning", () => {
  const expiresAt = minutesLater(24 * 60).toISOString();
  const environment = environmentFixture({ spec: { ttlHours: 24 }, status: { expiresAt } });
  const warning = { channel: "email", to: "dev@example.test", event: "expiry", template: "expiry" } as const;
  const facts = { environment: "shop", expiresAt };
  const destination = "email/dev@example.test";
  const linkIn = (text = "") => /https:\S+extensions\/(\S+)/.exec(text);

  test("brings a link that only the owner's mail has", async () => {
    const { add, reconcile, mail, find, extensionKey, clock } = scene({ living: [environment] });
    const name = await add({ ...warning, facts });
    await reconcile(destination);
    const [link, token = ""] = linkIn(mail.sent[0]?.text) ?? [];
    expect(link).toContain("https://platform.example.test/base/api/v2/extensions/");
    expect(verifyExtension(token, await extensionKey(), clock.now())).toEqual({
      uid: UID,
      addedHours: 24,
      expiresAt: new Date(expiresAt),
      endsAt: new Date(expiresAt),
    });
    expect(JSON.stringify(find(name))).not.toContain(token);
    expect(mail.sent[0]).toMatchObject({ to: "dev@example.test", id: name });
  });

  test.each<[string, object]>([
    ["without an address of the interface", { settings: notificationSettings({}, { publicUrl: undefined }) }],
    ["for an environment with the longest TTL", { settings: notificationSettings({}, { ttl: { maximumHours: 24 } }) }],
  ])("brings none %s", async (_rule, given) => {
    const { add, reconcile, mail } = scene({ living: [environment], ...given });
    await add({ ...warning, facts });
    await reconcile(destination);
    expect(linkIn(mail.sent[0]?.text)).toBeNull();
    expect(mail.sent).toHaveLength(1);
  });

  test.each<[string, EphemeralEnvironment[], number]>([
    ["is gone", [], 0],
    [
      "was extended",
      [environmentFixture({ spec: { ttlHours: 48 }, status: { expiresAt: minutesLater(2880).toISOString() } })],
      0,
    ],
    ["is being deleted", [{ ...environment, metadata: { ...environment.metadata, deletionTimestamp: CREATED } }], 0],
    ["has expired", [environment], DAY_MS],
    ["is protected", [environmentFixture({ spec: { ttlHours: 24, protected: true }, status: { expiresAt } })], 0],
  ])("is left out when the environment %s, and is no dead letter", async (_rule, living, laterMs) => {
    const { add, reconcile, mail, find, events, clock } = scene({ living });
    const name = await add({ ...warning, facts });
    clock.advance(laterMs);
    await reconcile(destination);
    expect(mail.sent).toEqual([]);
    expect(find(name).status).toMatchObject({ phase: "failed", message: expect.stringContaining("expire") });
    expect(events.list()).toEqual([]);
  });
});

describe("the retention of messages", () => {
  test("goes on soon where more are to be dropped than at a time", async () => {
    const settings = notificationSettings({ retention: { finished: 1, hours: 24 } });
    const { add, notifications, collect } = scene({ settings });
    for (let made = 0; made < 502; made += 1) await add();
    for (const one of notifications.list()) await notifications.finish(one, { phase: "sent", attempts: 1 });
    expect(await collect()).toBe(true);
    expect(notifications.list()).toHaveLength(2);
    expect(await collect()).toBe(false);
    expect(notifications.list()).toHaveLength(1);
  });

  test("drops finished ones that are too old or too many, and never one that waits", async () => {
    const settings = notificationSettings({ retention: { finished: 2, hours: 24 } });
    const { add, reconcile, notifications, clock, chat, collect } = scene({ settings });
    chat.be("fails");
    const waiting = await add({ to: "ops" });
    await reconcile("chat/ops");
    chat.be("takes");
    for (const _ of [1, 2, 3]) {
      await add();
      await reconcile();
      clock.advance(1000);
    }
    await collect();
    expect(notifications.specs().map(({ facts }) => facts.environment)).toEqual(["shop-1", "shop-3", "shop-4"]);
    clock.advance(25 * HOUR_MS);
    await collect();
    expect(notifications.list().map(({ metadata }) => metadata.name)).toEqual([waiting]);
  });
});
