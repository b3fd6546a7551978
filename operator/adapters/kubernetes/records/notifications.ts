import {
  type Notification,
  type NotificationStatus,
  notificationManifest,
} from "../../../../crds/notifications/notification.ts";
import { insteadOf, isAlreadyExists, isConflict, isInvalid, isNotFound } from "../../../kit/client/errors.ts";
import { BY_DESTINATION } from "../../../ports/caches.ts";
import type { Notifications } from "../../../ports/notifications.ts";
import { notificationType } from "../kinds.ts";
import { kept, keptRest, type Store } from "../store.ts";

type Context = Pick<Store<Notification>, "client" | "cache" | "namespace">;

/** Notifications port on the Kubernetes API and the watch cache. */
export function kubernetesNotifications(context: Context): Notifications {
  const { client, cache, namespace } = context;
  return {
    list: () => cache.list(),
    pendingFor: (destination) => cache.by(BY_DESTINATION, destination),
    async add(name, spec) {
      if (cache.get(`${namespace}/${name}`) !== undefined) return;
      const created = client.create(notificationType, notificationManifest(name, spec, namespace));
      await created.then((one) => kept(cache, one)).catch(insteadOf(isAlreadyExists, undefined));
    },
    claim(notification, status) {
      const { resourceVersion } = notification.metadata;
      const version = { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion };
      const isTaken = (error: unknown) => isConflict(error) || isNotFound(error);
      return writeStatus(context, notification, [version, replaced(status)]).catch(insteadOf(isTaken, undefined));
    },
    async finish(notification, status) {
      const same = { op: "test", path: "/metadata/uid", value: notification.metadata.uid };
      // A failed `test` is answered as invalid: another one has its name.
      const isGone = (error: unknown) => isNotFound(error) || isInvalid(error);
      await writeStatus(context, notification, [same, replaced(status)]).catch(insteadOf(isGone, undefined));
    },
    async remove(notification) {
      const { name, uid } = notification.metadata;
      const left = await client
        .delete(notificationType, { name, namespace }, { uid })
        .catch(insteadOf(isConflict, undefined));
      if (left !== undefined) keptRest(cache, notification, left);
    },
  };
}

const replaced = (value: NotificationStatus) => ({ op: "add", path: "/status", value });

async function writeStatus({ client, cache }: Context, { metadata }: Notification, patch: readonly object[]) {
  const options = { as: "json", subresource: "status" } as const;
  return kept(cache, await client.patch(notificationType, metadata, [...patch], options));
}
