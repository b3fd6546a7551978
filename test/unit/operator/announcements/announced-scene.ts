import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import type { Announced } from "../../../../crds/notifications/announced.schema.ts";
import type { RepositorySpec } from "../../../../crds/repository/repository.ts";
import { createAnnouncer } from "../../../../operator/announcements/announcer.ts";
import { memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { memoryNotifications } from "../../../support/doubles/memory/webhooks/notifications.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import {
  CREATED,
  environmentFixture,
  minutesLater,
  repositoryFixture,
} from "../../../support/fixtures/environment/environment-fixture.ts";
import { notificationSettings } from "../../../support/fixtures/webhooks/notification-settings.ts";

export const HOUR = 60;
/** A person with an e-mail address. */
export const owner = { subject: "https://issuer.test#dev", email: "dev@example.test", name: "Dev" };

/** The status of an environment whose Ready has this state since that minute. */
export function readiness(status: "True" | "False" | "Unknown", minute: number, serving = "hash-1") {
  const lastTransitionTime = minutesLater(minute).toISOString();
  const condition = { type: "Ready", status, reason: "UrlDown", message: "a URL is down", lastTransitionTime };
  return { observedGeneration: 1, conditions: [condition], servingHash: serving, url: "https://shop.env.test" };
}

export interface Scene {
  readonly notify?: RepositorySpec["notify"];
  readonly settings?: object;
}

/** An announcer of the settings, and its announcements. */
export function scene({ notify = { chatChannel: "shop" }, settings = {} }: Scene = {}) {
  const clock = new TestClock(CREATED);
  const notifications = memoryNotifications(clock);
  const repositories = memoryRepositories(repositoryFixture("shop-api", { notify }), repositoryFixture("shop-web"));
  const announcer = createAnnouncer({ settings: notificationSettings(settings), repositories, notifications, clock });
  if (announcer === undefined) throw new Error("the settings name recipients");
  let announced: Announced | undefined;
  const made = () => notifications.specs().map(({ channel, to, event }) => `${event} to ${channel} ${to}`);
  return {
    clock,
    notifications,
    announcer,
    made,
    announced: () => announced,
    /** A reconcile, with the stored state; returns its messages. */
    async reconcile(parts: Parameters<typeof environmentFixture>[0] = {}) {
      const before = made().length;
      const status = parts.status && { ...parts.status, ...(announced === undefined ? {} : { announced }) };
      const stored = environmentFixture({ ...parts, ...(status === undefined ? {} : { status }) } as typeof parts);
      announced = await announcer.announce(stored);
      const settling = { ...stored, status: { ...stored.status, ...(announced === undefined ? {} : { announced }) } };
      announced = announcer.nextAnnouncement(settling as EphemeralEnvironment).announced;
      return made().slice(before);
    },
  };
}
