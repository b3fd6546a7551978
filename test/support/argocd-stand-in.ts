import { isDeepStrictEqual } from "node:util";
import { namespaceName } from "../../crds/names.ts";
import { applicationKind, type WireObject } from "../../operator/kinds.ts";
import type { KubeClient } from "../../operator/kit/kube-client.ts";
import { isConflict, isNotFound } from "../../operator/kit/kube-errors.ts";
import { silentLog } from "../../operator/kit/log.ts";
import { createObjectCache } from "../../operator/kit/object-cache.ts";
import { createReflector } from "../../operator/kit/reflector.ts";

const applications = applicationKind;

/**
 * What becomes of an application: `degraded` is synced with pods that don't come up, `unsyncable` is refused by the API
 * server, `ignored` is not looked at.
 */
export type Fate = "healthy" | "degraded" | "unsyncable" | "ignored";

/** What decides it: the values of its chart. */
export type FateOf = (values: Readonly<Record<string, unknown>>) => Fate;

/** What stands in for Argo CD where only the control plane runs: every application is synced and healthy at once. */
export interface ArgocdStandIn {
  /** From now on, the application of this environment fares as said, whatever it did before. */
  decide(environment: string, fate: FateOf): void;
  stop(): Promise<void>;
}

/**
 * Answers Applications as Argo CD's controller does (compared source, synced, healthy; cascade finalizer removed on
 * deletion) without deploying anything. The real Argo CD is what e2e runs against.
 */
export async function startArgocdStandIn(client: KubeClient): Promise<ArgocdStandIn> {
  const cache = createObjectCache<WireObject>();
  const reflector = createReflector({ client, type: applications, cache, namespace: "argocd", log: silentLog });
  const fates = new Map<string, FateOf>();
  const answers = new Set<Promise<void>>();
  const look = (application: WireObject) => {
    const fate = fates.get(application.metadata.name)?.(valuesOf(application)) ?? "healthy";
    const answering = answer(client, application, fate).finally(() => answers.delete(answering));
    answers.add(answering);
  };
  const end = cache.subscribe((_key, current) => {
    if (current !== undefined) look(current);
  });
  reflector.start();
  await cache.whenSynced(AbortSignal.timeout(10_000));
  return {
    decide(environment, fate) {
      const name = namespaceName(environment);
      fates.set(name, fate);
      for (const application of cache.list()) if (application.metadata.name === name) look(application);
    },
    async stop() {
      end();
      await reflector.stop();
      await Promise.all(answers);
    },
  };
}

interface Source {
  readonly helm?: { readonly valuesObject?: Record<string, unknown> };
}

function sourceOf({ spec }: WireObject): Source {
  return (spec as { source: Source }).source;
}

const valuesOf = (application: WireObject) => sourceOf(application).helm?.valuesObject ?? {};

async function answer(client: KubeClient, application: WireObject, fate: Fate): Promise<void> {
  const { name, namespace = "argocd", deletionTimestamp, finalizers } = application.metadata;
  const ref = { name, namespace };
  try {
    if (deletionTimestamp !== undefined) {
      if (finalizers?.length) await client.patch(applications, ref, { metadata: { finalizers: [] } }, { as: "merge" });
      return;
    }
    if (fate === "ignored") return;
    const status = statusOf(application, fate);
    if (isDeepStrictEqual(application.status, status)) return;
    await client.patch(applications, ref, [{ op: "add", path: "/status", value: status }], { as: "json" });
  } catch (error) {
    // A newer version of the object is on its way and will be answered.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

const WHEN = "2026-01-01T00:00:00Z";

function statusOf(application: WireObject, fate: Exclude<Fate, "ignored">): object {
  const source = sourceOf(application);
  const { destination } = application.spec as { destination: object };
  const isRefused = fate === "unsyncable";
  return {
    health: { status: { healthy: "Healthy", degraded: "Degraded", unsyncable: "Missing" }[fate] },
    sync: {
      comparedTo: { destination, source },
      revision: "0123456789abcdef0123456789abcdef01234567",
      status: isRefused ? "OutOfSync" : "Synced",
    },
    ...(isRefused ? { operationState: refusal(source), reconciledAt: WHEN } : {}),
  };
}

function refusal(source: object): object {
  return {
    phase: "Failed",
    message: "one or more objects failed to apply",
    operation: { sync: {} },
    startedAt: WHEN,
    finishedAt: WHEN,
    syncResult: { revision: "", source },
  };
}
