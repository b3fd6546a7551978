import { applicationKind, type WireObject } from "../../operator/kinds.ts";
import type { KubeClient } from "../../operator/kit/kube-client.ts";
import { isConflict, isNotFound } from "../../operator/kit/kube-errors.ts";
import { silentLog } from "../../operator/kit/log.ts";
import { createObjectCache } from "../../operator/kit/object-cache.ts";
import { createReflector } from "../../operator/kit/reflector.ts";

const applications = applicationKind;

/** What stands in for Argo CD where only the control plane runs: every application is synced and healthy at once. */
export interface ArgocdStandIn {
  stop(): Promise<void>;
}

/**
 * Answers Applications as Argo CD's controller does (compared source, synced, healthy; cascade finalizer removed on
 * deletion) without deploying anything. The real Argo CD is what e2e runs against.
 */
export async function startArgocdStandIn(client: KubeClient): Promise<ArgocdStandIn> {
  const cache = createObjectCache<WireObject>();
  const reflector = createReflector({ client, type: applications, cache, namespace: "argocd", log: silentLog });
  const answers = new Set<Promise<void>>();
  const end = cache.subscribe((_key, current) => {
    if (current === undefined) return;
    const answering = answer(client, current).finally(() => answers.delete(answering));
    answers.add(answering);
  });
  reflector.start();
  await cache.whenSynced(AbortSignal.timeout(10_000));
  return {
    async stop() {
      end();
      await reflector.stop();
      await Promise.all(answers);
    },
  };
}

async function answer(client: KubeClient, application: WireObject): Promise<void> {
  const { name, namespace = "argocd", deletionTimestamp, finalizers } = application.metadata;
  const ref = { name, namespace };
  try {
    if (deletionTimestamp !== undefined) {
      if (finalizers?.length) await client.patch(applications, ref, { metadata: { finalizers: [] } }, { as: "merge" });
      return;
    }
    const status = healthy(application);
    if (JSON.stringify(application.status) === JSON.stringify(status)) return;
    await client.patch(applications, ref, { status }, { as: "merge" });
  } catch (error) {
    // A newer version of the object is on its way and will be answered.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

function healthy(application: WireObject): object {
  const { source, destination } = application.spec as { source: object; destination: object };
  return {
    health: { status: "Healthy" },
    sync: {
      comparedTo: { destination, source },
      revision: "0123456789abcdef0123456789abcdef01234567",
      status: "Synced",
    },
  };
}
