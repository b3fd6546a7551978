import { randomUUID } from "node:crypto";
import {
  destinationOf,
  isUnsent,
  type Notification,
  type NotificationSpec,
  type NotificationStatus,
  notificationManifest,
} from "../../../../../crds/notifications/notification.ts";
import type { Clock } from "../../../../../operator/kit/time/clock.ts";
import type { Notifications } from "../../../../../operator/ports/notifications.ts";

export interface MemoryNotifications extends Notifications {
  /** The specs of all messages, in the order of creation. */
  specs(): readonly NotificationSpec[];
  fail(failure: Error | undefined): void;
  /** Number of next attempts whose end can't be written. */
  failToFinish(times: number): void;
}

export function memoryNotifications(clock: Clock): MemoryNotifications {
  const byName = new Map<string, Notification>();
  let version = 0;
  let failure: Error | undefined;
  let unfinished = 0;
  const find = ({ metadata }: Notification) => {
    const found = byName.get(metadata.name);
    return found?.metadata.uid === metadata.uid ? found : undefined;
  };
  const write = (found: Notification, status: NotificationStatus) => {
    version += 1;
    const written = { ...found, metadata: { ...found.metadata, resourceVersion: String(version) }, status };
    byName.set(written.metadata.name, written);
    return written;
  };
  return {
    list: () => [...byName.values()],
    pendingFor: (destination) =>
      [...byName.values()].filter((one) => isUnsent(one) && destinationOf(one) === destination),
    async add(name, spec) {
      if (failure !== undefined) throw failure;
      if (byName.has(name)) return;
      version += 1;
      const manifest = notificationManifest(name, structuredClone(spec), "ephemeral-system");
      const creationTimestamp = new Date(Math.floor(clock.now().getTime() / 1000) * 1000).toISOString();
      const metadata = { ...manifest.metadata, uid: randomUUID(), resourceVersion: String(version), creationTimestamp };
      byName.set(name, { ...manifest, metadata });
    },
    async claim(notification, status) {
      const found = find(notification);
      const isSame = found?.metadata.resourceVersion === notification.metadata.resourceVersion;
      return found !== undefined && isSame ? write(found, status) : undefined;
    },
    async finish(notification, status) {
      if (unfinished > 0) {
        unfinished -= 1;
        throw new Error("the API server is away");
      }
      const found = find(notification);
      if (found !== undefined) write(found, status);
    },
    async remove(notification) {
      if (find(notification) !== undefined) byName.delete(notification.metadata.name);
    },
    specs: () => [...byName.values()].map(({ spec }) => spec),
    fail(error) {
      failure = error;
    },
    failToFinish(times) {
      unfinished = times;
    },
  };
}
