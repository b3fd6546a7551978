import {
  type Notification,
  type NotificationStatus,
  notificationManifest,
} from "../../../../crds/notifications/notification.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import { isAlreadyExists, isConflict, isInvalid, isNotFound } from "../../../kit/client/errors.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import { BY_DESTINATION } from "../../../ports/caches.ts";
import type { Notifications } from "../../../ports/notifications/notifications.ts";
import { notificationType } from "../kinds.ts";

interface Context {
  readonly client: KubeClient;
  readonly cache: ObjectCache<Notification>;
  /** The platform's own. */
  readonly namespace: string;
}

/** The Notifications port on the Kubernetes API and this process's watch cache of the platform's namespace. */
export function kubernetesNotifications(context: Context): Notifications {
  const { client, cache, namespace } = context;
  return {
    list: () => cache.list(),
    pendingFor: (destination) => cache.by(BY_DESTINATION, destination),
    async add(name, spec) {
      if (cache.get(`${namespace}/${name}`) !== undefined) return;
      try {
        cache.written(await client.create(notificationType, notificationManifest(name, spec, namespace)));
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    },
    async claim(notification, status) {
      const { resourceVersion } = notification.metadata;
      const version = { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion };
      try {
        return await writeStatus(context, notification, [version, replaced(status)]);
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return undefined;
        throw error;
      }
    },
    async finish(notification, status) {
      const same = { op: "test", path: "/metadata/uid", value: notification.metadata.uid };
      try {
        await writeStatus(context, notification, [same, replaced(status)]);
      } catch (error) {
        // A failed `test` is answered as invalid: another one has its name.
        if (!isNotFound(error) && !isInvalid(error)) throw error;
      }
    },
    async remove(notification) {
      const { name, uid } = notification.metadata;
      try {
        const outcome = await client.delete(notificationType, { name, namespace }, { uid });
        if (outcome === "gone") cache.deleted(notification);
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    },
  };
}

const replaced = (value: NotificationStatus) => ({ op: "add", path: "/status", value });

async function writeStatus({ client, cache }: Context, { metadata }: Notification, patch: readonly object[]) {
  const options = { as: "json", subresource: "status" } as const;
  const written = await client.patch(notificationType, metadata, [...patch], options);
  cache.written(written);
  return written;
}
