import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Announced } from "../../../../crds/notifications/announced.schema.ts";
import type { RepositorySpec } from "../../../../crds/repository/repository.ts";
import { createAnnouncer } from "../../../../operator/notification/announcer.ts";
import { memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { memoryNotifications } from "../../../support/doubles/memory/webhooks/notifications.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import {
  CREATED,
  environmentFixture,
  fixtureSettings,
  minutesLater,
  pipelineFixture,
  repositoryFixture,
} from "../../../support/fixtures/environment-fixture.ts";
import { notificationSettings } from "../../../support/fixtures/webhooks/notification-settings.ts";

const HOUR = 60;
const owner = { subject: "https://issuer.test#dev", email: "dev@example.test", name: "Dev" };

/** The status of an environment whose Ready has this state since that minute. */
function readiness(status: "True" | "False" | "Unknown", minute: number, serving = "hash-1") {
  const lastTransitionTime = minutesLater(minute).toISOString();
  const condition = { type: "Ready", status, reason: "UrlDown", message: "a URL is down", lastTransitionTime };
  return { observedGeneration: 1, conditions: [condition], servingHash: serving, url: "https://shop.env.test" };
}

interface Scene {
  readonly notify?: RepositorySpec["notify"];
  readonly settings?: object;
}

function scene({ notify = { chatChannel: "shop" }, settings = {} }: Scene = {}) {
  const clock = new TestClock(CREATED);
  const notifications = memoryNotifications(clock);
  const repositories = memoryRepositories(repositoryFixture("shop-api", { notify }), repositoryFixture("shop-web"));
  const announcer = createAnnouncer({ settings: notificationSettings(settings), repositories, notifications, clock });
  if (announcer === undefined) throw new Error("there is somebody to tell");
  let announced: Announced | undefined;
  const made = () => notifications.specs().map(({ channel, to, event }) => `${event} to ${channel} ${to}`);
  return {
    clock,
    notifications,
    announcer,
    made,
    announced: () => announced,
    /** One reconcile: tells what is stored, then settles; returns the messages that it made. */
    async reconcile(parts: Parameters<typeof environmentFixture>[0] = {}) {
      const before = made().length;
      const status = parts.status && { ...parts.status, ...(announced === undefined ? {} : { announced }) };
      const stored = environmentFixture({ ...parts, ...(status === undefined ? {} : { status }) } as typeof parts);
      announced = await announcer.announce(stored);
      const settling = { ...stored, status: { ...stored.status, ...(announced === undefined ? {} : { announced }) } };
      announced = announcer.settle(settling as EphemeralEnvironment).announced;
      return made().slice(before);
    },
  };
}

describe("the announcer", () => {
  test("does nothing where the settings name nowhere to send to", () => {
    const clock = new TestClock(CREATED);
    const parts = { repositories: memoryRepositories(), notifications: memoryNotifications(clock), clock };
    expect(createAnnouncer({ settings: fixtureSettings, ...parts })).toBeUndefined();
  });

  test("tells each change of an environment once", async () => {
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

  test("tells nothing when the same runs again, or sleeps", async () => {
    const { reconcile } = scene();
    await reconcile({ status: readiness("True", 2) });
    expect(await reconcile({ status: readiness("True", 9) })).toEqual([]);
    expect(await reconcile({ status: readiness("True", 12, "") })).toEqual([]);
    expect(await reconcile({ status: readiness("True", 15) })).toEqual([]);
  });

  test("tells a failure after a failure, because something else was tried", async () => {
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

  test("tells nothing of what was before there was somebody to tell", async () => {
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
      announcer.settle(environmentFixture({ status: { ...readiness(status, 2), announced } }));
    expect(settle("True")).toEqual({ announced, dueInMs: 0 });
    expect(settle("Unknown")).not.toHaveProperty("dueInMs", 0);
  });

  test("moves on without messages where nobody wants to know", () => {
    const { announcer } = scene({ notify: { chatChannel: "shop", events: ["failed"] } });
    const announced: Announced = { event: "created", at: CREATED };
    const settled = announcer.settle(environmentFixture({ status: { ...readiness("True", 2), announced } }));
    expect(settled.announced).toMatchObject({ event: "ready", serving: "hash-1" });
    expect(settled.dueInMs).not.toBe(0);
  });

  test("tells the end of an environment once, and why", async () => {
    const { announcer, notifications, made } = scene();
    await announcer.announceDeletion(environmentFixture(), "expired");
    await announcer.announceDeletion(environmentFixture(), "expired");
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

describe("an ended pipeline", () => {
  const ran = (status: "running" | "success" | "failed" | "canceled", id = 7) => ({
    spec: {
      backend: {
        ...{ repository: "shop-api", branch: "main" },
        pipeline: pipelineFixture({ status, id, url: "https://ci.test/p/7" }),
      },
    },
  });

  test("is told once, with project, commit, image and status", async () => {
    const { reconcile, notifications } = scene();
    await reconcile(ran("running"));
    expect(await reconcile({ ...ran("success"), status: readiness("Unknown", 0) })).toEqual(["pipeline to chat shop"]);
    expect(await reconcile({ ...ran("success"), status: readiness("Unknown", 0) })).toEqual([]);
    expect(notifications.specs().at(-1)?.facts).toMatchObject({
      ...{ project: "g/shop", commit: "aaaaaaaa", status: "success" },
      image: `registry.test/shop-api:${"a".repeat(40)}`,
    });
    expect(notifications.specs().at(-1)?.facts).not.toHaveProperty("pipelineUrl");
  });

  test("that failed has its address", async () => {
    const { reconcile, notifications } = scene();
    await reconcile();
    expect(await reconcile({ ...ran("failed"), status: readiness("Unknown", 0) })).toEqual(["pipeline to chat shop"]);
    expect(notifications.specs().at(-1)?.facts).toMatchObject({ status: "failed", pipelineUrl: "https://ci.test/p/7" });
  });

  test("that is running or canceled is not told", async () => {
    const { reconcile } = scene();
    await reconcile();
    expect(await reconcile({ ...ran("running"), status: readiness("Unknown", 0) })).toEqual([]);
    expect(await reconcile({ ...ran("canceled"), status: readiness("Unknown", 0) })).toEqual([]);
  });

  test("is told once for all environments that have its commit", async () => {
    const { announcer, made } = scene();
    for (const uid of ["0a1b2c3d-0000-4000-8000-000000000001", "0a1b2c3d-0000-4000-8000-000000000002"]) {
      const announced: Announced = { event: "created", at: CREATED };
      await announcer.announce(
        environmentFixture({ ...ran("success"), metadata: { uid }, status: { ...readiness("Unknown", 0), announced } }),
      );
    }
    expect(made()).toEqual(["pipeline to chat shop"]);
  });
});

describe("a warning before an expiry", () => {
  const warned = (ttlHours: number, notBefore = 0) => ({
    spec: { ttlHours, owner },
    status: { ...readiness("True", notBefore), expiresAt: minutesLater(ttlHours * HOUR).toISOString() },
  });
  const silent = { notify: {} };

  test("comes a day and an hour before, once each, to the owner alone", async () => {
    const { reconcile, clock, notifications } = scene(silent);
    expect(await reconcile({ spec: { ttlHours: 48, owner } })).toEqual([]);
    expect(await reconcile(warned(48))).toEqual([]);
    clock.advance(24 * HOUR * 60_000);
    expect(await reconcile(warned(48))).toEqual(["expiry to email dev@example.test"]);
    expect(await reconcile(warned(48))).toEqual([]);
    clock.advance(23 * HOUR * 60_000);
    expect(await reconcile(warned(48))).toEqual(["expiry to email dev@example.test"]);
    expect(await reconcile(warned(48))).toEqual([]);
    expect(notifications.specs().map(({ facts }) => facts.hours)).toEqual(["24", "1"]);
  });

  test("that would come with the creation is left out", async () => {
    const { reconcile, clock } = scene(silent);
    await reconcile({ spec: { ttlHours: 24, owner } });
    expect(await reconcile(warned(24))).toEqual([]);
    clock.advance(23 * HOUR * 60_000);
    expect(await reconcile(warned(24))).toEqual(["expiry to email dev@example.test"]);
  });

  test("that would come with an extension is left out, and the next one is not", async () => {
    const { reconcile, clock } = scene(silent);
    await reconcile(warned(4));
    clock.advance(3.5 * HOUR * 60_000);
    expect(await reconcile(warned(4))).toEqual(["expiry to email dev@example.test"]);
    expect(await reconcile(warned(10))).toEqual([]);
    clock.advance(5.6 * HOUR * 60_000);
    expect(await reconcile(warned(10))).toEqual(["expiry to email dev@example.test"]);
  });

  test("is only the last one that is due", async () => {
    const { reconcile, clock } = scene(silent);
    await reconcile(warned(48));
    clock.advance(47.5 * HOUR * 60_000);
    expect(await reconcile(warned(48))).toEqual(["expiry to email dev@example.test"]);
    expect(await reconcile(warned(48))).toEqual([]);
  });

  test.each<[string, object, object]>([
    ["for a protected environment", { protected: true }, {}],
    ["without an owner", { owner: undefined }, {}],
    ["to a list of addresses", { owner: { ...owner, email: "a@example.test, b@example.test" } }, {}],
    ["to an address with a line break", { owner: { ...owner, email: "a@example.test\r\nBcc: b@example.test" } }, {}],
    ["to an address with a name", { owner: { ...owner, email: "Dev <dev@example.test>" } }, {}],
    ["to the login of a host", { owner: { ...owner, email: "" } }, {}],
    ["without a mail server", {}, { email: undefined }],
    ["where the settings want none", {}, { expiryWarnings: { hours: [] } }],
  ])("does not come %s", async (_rule, spec, settings) => {
    const { reconcile, clock } = scene({ notify: {}, settings });
    const given = () => ({ ...warned(48), spec: { ttlHours: 48, owner, ...spec } });
    await reconcile(given() as never);
    clock.advance(47.5 * HOUR * 60_000);
    expect(await reconcile(given() as never)).toEqual([]);
  });

  test("wakes the reconcile when it is due", async () => {
    const { announcer, clock } = scene(silent);
    const announced: Announced = {
      ...{ event: "ready", at: minutesLater(0).toISOString(), serving: "hash-1" },
      expiry: { at: minutesLater(48 * HOUR).toISOString() },
    };
    const given = warned(48);
    const settled = () =>
      announcer.settle(environmentFixture({ ...given, status: { ...given.status, announced } })).dueInMs;
    expect(settled()).toBe(24 * HOUR * 60_000);
    clock.advance(24 * HOUR * 60_000 - 5);
    expect(settled()).toBe(5);
    clock.advance(5);
    expect(settled()).toBe(0);
  });
});
