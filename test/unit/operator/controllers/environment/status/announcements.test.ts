import { describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../../crds/environment/ephemeral-environment.ts";
import { createAnnouncer } from "../../../../../../operator/announcements/announcer.ts";
import { settled, tell } from "../../../../../../operator/controllers/environment/status/announcements.ts";
import { memoryRepositories } from "../../../../../support/doubles/memory/repositories.ts";
import { memoryNotifications } from "../../../../../support/doubles/memory/webhooks/notifications.ts";
import { TestClock } from "../../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  environmentFixture,
  repositoryFixture,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { notificationSettings } from "../../../../../support/fixtures/webhooks/notification-settings.ts";

function scene() {
  const clock = new TestClock(CREATED);
  const notifications = memoryNotifications(clock);
  const repositories = memoryRepositories(repositoryFixture("shop-api", { notify: { chatChannel: "shop" } }));
  const announcer = createAnnouncer({ settings: notificationSettings(), repositories, notifications, clock });
  return {
    notifications,
    events: () => notifications.specs().map(({ event }) => event),
    async reconcile(stored: EphemeralEnvironment): Promise<EphemeralEnvironment> {
      const reported = await tell(stored, stored, announcer);
      const status = { ...stored.status, observedGeneration: 1 };
      return { ...stored, status: settled(stored, status, { ...reported, announcer }).status };
    },
  };
}

describe("the message about a creation", () => {
  test("is made later when the API server refuses it at first, although the status is stored meanwhile", async () => {
    const { reconcile, notifications, events } = scene();
    notifications.fail(new Error("the API server is away"));
    const { status: _, ...made } = environmentFixture();
    const again = await reconcile(await reconcile(made));
    expect(events()).toEqual([]);
    notifications.fail(undefined);
    await reconcile(await reconcile(again));
    expect(events()).toEqual(["created"]);
  });

  test("is not made of an environment that is older than the settings for messages", async () => {
    const { reconcile, events } = scene();
    await reconcile(await reconcile(environmentFixture({ status: { observedGeneration: 1 } })));
    expect(events()).toEqual([]);
  });
});
