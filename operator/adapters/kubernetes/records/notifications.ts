import { type Notification, notificationManifest } from "../../../../crds/notifications/notification.ts";
import { insteadOf, isAlreadyExists, isInvalid, isNotFound } from "../../../kit/client/errors.ts";
import { BY_DESTINATION } from "../../../ports/caches.ts";
import type { Notifications } from "../../../ports/notifications.ts";
import { notificationType } from "../kinds.ts";
import { writeStatus } from "../status-writer.ts";
import { isOvertaken, kept, removeExactly, type Store, sameObject } from "../store.ts";

/** Notifications port on the Kubernetes API and the watch cache. */
export function kubernetesNotifications(
  store: Pick<Store<Notification>, "client" | "cache" | "namespace">,
): Notifications {
  const { client, cache, namespace } = store;
  return {
    list: () => cache.list(),
    pendingFor: (destination) => cache.by(BY_DESTINATION, destination),
    async add(name, spec) {
      if (cache.get(`${namespace}/${name}`) !== undefined) return;
      const created = client.create(notificationType, notificationManifest(name, spec, namespace));
      await created.then((one) => kept(cache, one)).catch(insteadOf(isAlreadyExists, undefined));
    },
    claim: (notification, status) =>
      writeStatus(store, notificationType, notification, status).catch(insteadOf(isOvertaken, undefined)),
    async finish({ metadata }, status) {
      const patch = [sameObject(metadata), { op: "add", path: "/status", value: status }];
      const written = client.patch(notificationType, metadata, patch, { as: "json", subresource: "status" });
      const isGone = (error: unknown) => isNotFound(error) || isInvalid(error);
      await written.then((one) => kept(cache, one)).catch(insteadOf(isGone, undefined));
    },
    remove: (notification) => removeExactly(store, notificationType, notification),
  };
}
