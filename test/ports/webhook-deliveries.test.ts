import { watchedWebhookDeliveries, webhookDeliveryType } from "../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesWebhookDeliveries } from "../../operator/adapters/kubernetes/records/webhook-deliveries.ts";
import { createCacheSet } from "../../operator/kit/cache/cache-set.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import { memoryWebhookDeliveries } from "../support/doubles/memory/webhooks/webhook-deliveries.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { webhookDeliveriesSuite } from "./suites/webhook-deliveries.suite.ts";

const plane = await controlPlane();

const namespace = "ephemeral-system";

webhookDeliveriesSuite("in memory", async () => ({
  deliveries: memoryWebhookDeliveries(new TestClock()),
  stop: async () => undefined,
}));

async function real() {
  const client = createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.platform.token) });
  const watches = createCacheSet({ client, clock: systemClock, log: silentLog });
  const cache = watches.watch(watchedWebhookDeliveries(namespace));
  watches.start();
  await watches.whenSynced(AbortSignal.timeout(10_000));
  return {
    deliveries: kubernetesWebhookDeliveries({ client, cache, namespace }),
    async stop() {
      const { items } = await client.list(webhookDeliveryType, { namespace });
      for (const { metadata } of items) await client.delete(webhookDeliveryType, { name: metadata.name, namespace });
      await watches.stop();
      await client.close();
    },
  };
}

webhookDeliveriesSuite("on the Kubernetes API, as the platform", real);
