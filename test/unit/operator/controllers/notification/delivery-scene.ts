import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import {
  type Notification,
  type NotificationSpec,
  notificationName,
} from "../../../../../crds/notifications/notification.ts";
import { extensionKeyOf } from "../../../../../operator/adapters/platform-keys/platform-keys.ts";
import { removeFinishedMessages } from "../../../../../operator/controllers/garbage-collection/old-records.ts";
import { deliverMessages } from "../../../../../operator/controllers/notification/reconcile.ts";
import { createSender } from "../../../../../operator/controllers/notification/sender.ts";
import { memoryEventRecorder } from "../../../../support/doubles/memory/event-recorder.ts";
import { memorySecretManager } from "../../../../support/doubles/memory/secret-manager.ts";
import { memoryChat, memoryMail } from "../../../../support/doubles/memory/webhooks/messaging.ts";
import { memoryNotifications } from "../../../../support/doubles/memory/webhooks/notifications.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { CREATED, UID } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { notificationSettings } from "../../../../support/fixtures/webhooks/notification-settings.ts";

/** The outbox with a chat and a mail server that record their messages. */
export function scene({ settings = notificationSettings(), living = [] as EphemeralEnvironment[] } = {}) {
  const clock = new TestClock(CREATED);
  const notifications = memoryNotifications(clock);
  const secretManager = memorySecretManager();
  secretManager.share({ id: "chat-shop", labels: {}, values: ["http://127.0.0.1:9/shop\n"] });
  const [chat, mail, events] = [memoryChat(), memoryMail(), memoryEventRecorder(clock)];
  const extensionKey = extensionKeyOf(secretManager);
  const environmentOf = (uid: string) => living.find(({ metadata }) => metadata.uid === uid);
  const send = createSender({ settings, secretManager, chat, mail, extensionKey, environmentOf });
  const context = { settings, notifications, events, clock, log: silentLog, random: () => 0.5, environmentOf };
  const reconcile = deliverMessages(context, send);
  const signal = new AbortController().signal;
  let made = 0;
  return {
    clock,
    notifications,
    chat,
    mail,
    events,
    secretManager,
    extensionKey,
    async add(more: Partial<NotificationSpec> = {}) {
      made += 1;
      const spec: NotificationSpec = {
        channel: "chat",
        to: "shop",
        event: "ready",
        template: "ready",
        facts: { environment: `shop-${made}`, url: "https://shop.env.test" },
        environment: { name: `shop-${made}`, uid: UID },
        at: clock.now().toISOString(),
        ...more,
      };
      const name = notificationName([String(made)], spec);
      await notifications.add(name, spec);
      return name;
    },
    reconcile: (destination = "chat/shop") => reconcile(destination, { signal, requeueUrgently: () => undefined }),
    find: (name: string) => notifications.list().find(({ metadata }) => metadata.name === name) as Notification,
    collect: () => removeFinishedMessages(context)(signal),
  };
}
