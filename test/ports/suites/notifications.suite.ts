import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type NotificationSpec, notificationName } from "../../../crds/notifications/notification.ts";
import type { Notifications } from "../../../operator/ports/notifications.ts";
import { unique } from "../../support/plane/people.ts";

export interface NotificationsScene {
  readonly notifications: Notifications;
  stop(): Promise<void>;
}

export function notificationsSuite(title: string, start: () => Promise<NotificationsScene>): void {
  describe(`the messages of the outbox, ${title}`, () => {
    let scene: NotificationsScene;
    beforeAll(async () => {
      scene = await start();
    }, 60_000);
    afterAll(() => scene.stop());

    async function made(more: Partial<NotificationSpec> = {}) {
      const to = unique("channel-");
      const spec: NotificationSpec = {
        channel: "chat",
        to,
        event: "ready",
        template: "ready",
        facts: { environment: "shop" },
        at: "2026-06-01T12:00:00.123Z",
        ...more,
      };
      const name = notificationName([unique("about-")], spec);
      await scene.notifications.add(name, spec);
      return { name, spec, find: () => find(name) };
    }
    const find = (name: string) => {
      const found = scene.notifications.list().find(({ metadata }) => metadata.name === name);
      if (found === undefined) throw new Error(`no notification ${name}`);
      return found;
    };
    const waiting = ({ spec }: { spec: NotificationSpec }) =>
      scene.notifications.pendingFor(`${spec.channel}/${spec.to}`).map(({ metadata }) => metadata.name);
    const begun = { phase: "pending", attempts: 1, nextAttemptAt: "2026-01-01T00:01:30.000Z" } as const;

    test("are found at once, and made once", async () => {
      const one = await made();
      expect(one.find().spec).toEqual(one.spec);
      await scene.notifications.add(one.name, { ...one.spec, event: "failed" });
      expect(one.find().spec.event).toBe("ready");
      expect(waiting(one)).toEqual([one.name]);
    });

    test("are claimed by one of those who read the same version", async () => {
      const one = await made();
      const read = one.find();
      const claimed = await scene.notifications.claim(read, begun);
      expect(claimed?.status).toEqual(begun);
      expect(await scene.notifications.claim(read, begun)).toBeUndefined();
      expect(one.find().status).toEqual(begun);
    });

    test("wait until they are sent or given up", async () => {
      const one = await made();
      const claimed = await scene.notifications.claim(one.find(), begun);
      expect(waiting(one)).toEqual([one.name]);
      const sent = { phase: "sent", attempts: 1, sentAt: "2026-01-01T00:00:00.000Z" } as const;
      await scene.notifications.finish(claimed ?? one.find(), sent);
      expect(one.find().status).toEqual(sent);
      expect(waiting(one)).toEqual([]);
    });

    test("are finished also when they were changed meanwhile", async () => {
      const one = await made();
      const read = one.find();
      await scene.notifications.claim(read, begun);
      await scene.notifications.finish(read, { phase: "failed", attempts: 1, message: "no" });
      expect(one.find().status).toMatchObject({ phase: "failed" });
    });

    test("that are gone are finished, claimed and removed without an error", async () => {
      const one = await made();
      const read = one.find();
      await scene.notifications.remove(read);
      expect(waiting(one)).toEqual([]);
      await scene.notifications.remove(read);
      await scene.notifications.finish(read, begun);
      expect(await scene.notifications.claim(read, begun)).toBeUndefined();
    });
  });
}
