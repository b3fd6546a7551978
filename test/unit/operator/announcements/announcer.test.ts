import { describe, expect, test } from "@jest/globals";
import type { Announced } from "../../../../crds/notifications/announced.schema.ts";
import { createAnnouncer } from "../../../../operator/announcements/announcer.ts";
import { memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { memoryNotifications } from "../../../support/doubles/memory/webhooks/notifications.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import {
  CREATED,
  environmentFixture,
  fixtureSettings,
  minutesLater,
} from "../../../support/fixtures/environment/environment-fixture.ts";
import { readiness, type Scene, scene } from "./announced-scene.ts";

describe("the announcer", () => {
  test("does nothing where the settings name nowhere to send to", () => {
    const clock = new TestClock(CREATED);
    const parts = { repositories: memoryRepositories(), notifications: memoryNotifications(clock), clock };
    expect(createAnnouncer({ settings: fixtureSettings, ...parts })).toBeUndefined();
  });

  test("announces each change of an environment once", async () => {
    const { reconcile } = scene();
    expect(await reconcile()).toEqual(["created to chat shop"]);
    expect(await reconcile({ status: readiness("Unknown", 0) })).toEqual([]);
    expect(await reconcile({ status: readiness("True", 2) })).toEqual(["ready to chat shop"]);
    expect(await reconcile({ status: readiness("True", 2) })).toEqual([]);
    expect(await reconcile({ status: readiness("Unknown", 10) })).toEqual([]);
    expect(await reconcile({ status: readiness("True", 12, "hash-2") })).toEqual(["updated to chat shop"]);
    expect(await reconcile({ status: readiness("False", 20, "hash-2") })).toEqual(["failed to chat shop"]);
    expect(await reconcile({ status: readiness("True", 25, "hash-2") })).toEqual(["ready to chat shop"]);
  });

  test("announces an update of which no moment without readiness was stored", async () => {
    const { reconcile } = scene();
    await reconcile();
    await reconcile({ status: readiness("True", 2) });
    expect(await reconcile({ status: readiness("True", 2, "hash-2") })).toEqual(["updated to chat shop"]);
    expect(await reconcile({ status: readiness("True", 2, "hash-3") })).toEqual(["updated to chat shop"]);
    expect(await reconcile({ status: readiness("True", 2, "hash-3") })).toEqual([]);
  });

  test("announces nothing when the same runs again, or sleeps", async () => {
    const { reconcile } = scene();
    await reconcile({ status: readiness("True", 2) });
    expect(await reconcile({ status: readiness("True", 9) })).toEqual([]);
    expect(await reconcile({ status: readiness("True", 12, "") })).toEqual([]);
    expect(await reconcile({ status: readiness("True", 15) })).toEqual([]);
  });

  test("announces a failure after a failure, because something else was tried", async () => {
    const { reconcile } = scene();
    await reconcile();
    expect(await reconcile({ status: readiness("False", 20) })).toEqual(["failed to chat shop"]);
    expect(await reconcile({ status: readiness("False", 20) })).toEqual([]);
    expect(await reconcile({ status: readiness("False", 40) })).toEqual(["failed to chat shop"]);
  });

  test("makes a message once, however often what was announced is lost before it is stored", async () => {
    const { announcer, made } = scene();
    const stored = environmentFixture({
      status: { ...readiness("True", 2), announced: { event: "created", at: CREATED } },
    });
    await announcer.announce(stored);
    await announcer.announce(stored);
    expect(made()).toEqual(["ready to chat shop"]);
  });

  test("announces nothing from before there was a recipient", async () => {
    const { reconcile, announced } = scene();
    expect(await reconcile({ status: readiness("True", 2) })).toEqual([]);
    expect(announced()).toMatchObject({ event: "ready", at: minutesLater(2).toISOString(), serving: "hash-1" });
    expect(await reconcile({ status: readiness("False", 9) })).toEqual(["failed to chat shop"]);
  });

  test("keeps what was not announced when no message can be made", async () => {
    const { announcer, notifications } = scene();
    notifications.fail(new Error("the API server is away"));
    await expect(announcer.announce(environmentFixture())).rejects.toThrow("the API server is away");
    notifications.fail(undefined);
    expect(await announcer.announce(environmentFixture())).toMatchObject({ event: "created" });
  });

  test("is to be asked again at once when a status that is not stored yet brings news, and only then", () => {
    const { announcer } = scene();
    const announced: Announced = { event: "created", at: CREATED };
    const settle = (status: "True" | "Unknown") =>
      announcer.nextAnnouncement(environmentFixture({ status: { ...readiness(status, 2), announced } }));
    expect(settle("True")).toEqual({ announced, dueInMs: 0 });
    expect(settle("Unknown")).not.toHaveProperty("dueInMs", 0);
  });

  test("moves on without messages where there is no recipient", () => {
    const { announcer } = scene({ notify: { chatChannel: "shop", events: ["failed"] } });
    const announced: Announced = { event: "created", at: CREATED };
    const settled = announcer.nextAnnouncement(environmentFixture({ status: { ...readiness("True", 2), announced } }));
    expect(settled.announced).toMatchObject({ event: "ready", serving: "hash-1" });
    expect(settled.dueInMs).not.toBe(0);
  });

  test("announces the end of an environment once, and why", async () => {
    const { announcer, notifications, made } = scene();
    await announcer.reportDeleted(environmentFixture(), "expired");
    await announcer.reportDeleted(environmentFixture(), "expired");
    expect(made()).toEqual(["deleted to chat shop"]);
    expect(notifications.specs()[0]?.facts).toMatchObject({ environment: "shop", reason: "expired" });
  });
});

describe("the channels", () => {
  const chat = { webhooks: [{ channel: "ops", urlRef: { name: "chat-ops", key: "latest" } }], default: "ops" };

  test.each<[string, Scene, readonly string[]]>([
    ["of the Repository", {}, ["created to chat shop"]],
    ["of the settings where the Repository names none", { notify: {}, settings: { chat } }, ["created to chat ops"]],
    ["are none without either", { notify: {} }, []],
    ["are none for an event that was not chosen", { notify: { chatChannel: "shop", events: ["failed"] } }, []],
    ["are none without chat in the settings", { settings: { chat: {} } }, []],
  ])("%s", async (_rule, given, expected) => {
    expect(await scene(given).reconcile()).toEqual(expected);
  });

  test("of both Repositories, each once", async () => {
    const frontend = { repository: "shop-web", branch: "main" };
    const chatOfBoth = { default: "shop", webhooks: [{ channel: "shop", urlRef: { name: "chat", key: "1" } }] };
    expect(await scene({ settings: { chat: chatOfBoth } }).reconcile({ spec: { frontend } })).toEqual([
      "created to chat shop",
    ]);
    const two = scene({ settings: { chat: { ...chat, webhooks: [...chat.webhooks] } } });
    expect(await two.reconcile({ spec: { frontend } })).toEqual(["created to chat shop", "created to chat ops"]);
  });
});
