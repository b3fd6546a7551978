import { watchedNotifications } from "../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesNotifications } from "../../operator/adapters/kubernetes/records/notifications.ts";
import { createCacheSet } from "../../operator/kit/cache/cache-set.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import { memoryNotifications } from "../support/doubles/memory/webhooks/notifications.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { notificationsSuite } from "./suites/notifications.suite.ts";

const plane = await controlPlane();
const namespace = "ephemeral-system";

notificationsSuite("on Kubernetes", async () => {
  const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.platform.token) });
  const watches = createCacheSet({ client, log: silentLog, clock: systemClock });
  const cache = watches.watch(watchedNotifications(namespace));
  watches.start();
  await watches.whenSynced(AbortSignal.timeout(20_000));
  const notifications = kubernetesNotifications({ client, cache, namespace });
  return {
    notifications,
    async stop() {
      for (const one of notifications.list()) await notifications.remove(one);
      await watches.stop();
      await client.close();
    },
  };
});

notificationsSuite("in memory", async () => ({
  notifications: memoryNotifications(systemClock),
  stop: async () => undefined,
}));
