import type { ApiToken } from "../../crds/api-token.ts";
import { kubernetesApiTokens } from "../../operator/adapters/kubernetes/api-tokens.ts";
import { apiTokenType } from "../../operator/adapters/kubernetes/kinds.ts";
import { createObjectCache } from "../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../operator/kit/cache/reflector.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { ownDeletions } from "../../operator/kit/client/own-deletions.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import { BY_OWNER } from "../../operator/ports/caches.ts";
import { memoryApiTokens } from "../support/doubles/memory/api-tokens.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { apiTokensSuite } from "./suites/api-tokens.suite.ts";

const plane = await controlPlane();

const namespace = "ephemeral-system";

apiTokensSuite("in memory", async () => ({
  apiTokens: memoryApiTokens(new TestClock()),
  stop: async () => undefined,
}));

async function real() {
  const kubeConfig = kubeConfigOf(plane, plane.platform.token);
  const client = createKubeClient({ kubeConfig });
  const cache = createObjectCache<ApiToken>({ indexes: { [BY_OWNER]: ({ spec }) => [spec.owner.subject] } });
  const reflector = createReflector({ client, type: apiTokenType, cache, log: silentLog, namespace });
  reflector.start();
  await cache.whenSynced(AbortSignal.timeout(10_000));
  return {
    apiTokens: kubernetesApiTokens({ deletions: ownDeletions(), client, cache, namespace, clock: systemClock }),
    async stop() {
      const { items } = await client.list(apiTokenType, { namespace });
      for (const { metadata } of items) await client.delete(apiTokenType, { name: metadata.name, namespace });
      await reflector.stop();
      await client.close();
    },
  };
}

apiTokensSuite("on the Kubernetes API, as the platform", real);
