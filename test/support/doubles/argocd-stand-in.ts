import { isDeepStrictEqual } from "node:util";
import { namespaceName } from "../../../crds/names.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { createObjectCache } from "../../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../../operator/kit/cache/reflector.ts";
import { isConflict, isNotFound, isUnavailable } from "../../../operator/kit/client/errors.ts";
import type { WireObject } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { silentLog } from "../../../operator/kit/log.ts";
import { pause, systemClock } from "../../../operator/kit/time/clock.ts";

const applications = applicationKind;
/** So long it waits for an API server that is away. */
const AWAY_MS = 500;

/**
 * What becomes of an application: `progressing` is synced with pods that start and start, `degraded` with pods that
 * don't come up, `unsyncable` is refused by the API server, `unrendered` has a chart that gives no manifests, `ignored`
 * is not looked at, `undeletable` is healthy until it is to go, and then never does.
 */
export type Fate = "healthy" | "progressing" | "degraded" | "unsyncable" | "unrendered" | "ignored" | "undeletable";

/** What decides it: the values of its chart, and whether it was ever asked to try again. */
export type FateOf = (values: Readonly<Record<string, unknown>>, isAskedAgain: boolean) => Fate;

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
  const stopping = new AbortController();
  const fateOf = (application: WireObject): Fate => {
    const { name, annotations } = application.metadata;
    return fates.get(name)?.(valuesOf(application), annotations?.[ASKED_AGAIN] !== undefined) ?? "healthy";
  };
  const look = (key: string) => {
    const work = async () => {
      const current = cache.get(key);
      if (current !== undefined) await answer(client, current, fateOf(current));
    };
    const answering = whenServed(work, stopping.signal).finally(() => answers.delete(answering));
    answers.add(answering);
  };
  const end = cache.subscribe(look);
  reflector.start();
  await cache.whenSynced(AbortSignal.timeout(10_000));
  return {
    decide(environment, fate) {
      const name = namespaceName(environment);
      fates.set(name, fate);
      look(`argocd/${name}`);
    },
    async stop() {
      stopping.abort();
      end();
      await reflector.stop();
      await Promise.all(answers);
    },
  };
}

/** Tries again for as long as the API server is away, until the signal ends it. */
async function whenServed(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
    await pause(systemClock, AWAY_MS, signal);
  }
}

interface Source {
  readonly helm?: { readonly valuesObject?: Record<string, unknown> };
}

function sourceOf({ spec }: WireObject): Source {
  return (spec as { source: Source }).source;
}

const valuesOf = (application: WireObject) => sourceOf(application).helm?.valuesObject ?? {};

async function answer(client: KubeClient, application: WireObject, fate: Fate): Promise<void> {
  const { name, namespace = "argocd", deletionTimestamp } = application.metadata;
  const ref = { name, namespace };
  try {
    if (deletionTimestamp !== undefined) return await bury(client, application, fate);
    if (fate === "ignored") return;
    const status = statusOf(application, fate);
    const wishes = wishesOf(application);
    if (isDeepStrictEqual(application.status, status) && wishes.length === 0) return;
    const heard = wishes.map((path) => ({ op: "remove", path }));
    await client.patch(applications, ref, [{ op: "add", path: "/status", value: status }, ...heard], { as: "json" });
  } catch (error) {
    // A newer version of the object is on its way and will be answered.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

const ASKED_AGAIN = "ephemeral-environments.dev/asked-again-at";
const REFRESH = "argocd.argoproj.io/refresh";

/** What it was asked for and takes out again, as JSON pointers. */
function wishesOf({ metadata, operation }: WireObject): string[] {
  const refresh =
    metadata.annotations?.[REFRESH] === undefined ? [] : [`/metadata/annotations/${REFRESH.replace("/", "~1")}`];
  return operation === undefined ? refresh : ["/operation", ...refresh];
}

const CASCADE_FINALIZER = "resources-finalizer.argocd.argoproj.io";

/** What the application made is gone at once, or never. */
async function bury(client: KubeClient, application: WireObject, fate: Fate): Promise<void> {
  const { name, namespace = "argocd", finalizers = [] } = application.metadata;
  if (fate === "undeletable") {
    const conditions = [{ type: "DeletionError", message: "the cluster does not answer", lastTransitionTime: WHEN }];
    const { status } = application as { status?: { conditions?: unknown } };
    if (isDeepStrictEqual(status?.conditions, conditions)) return;
    await client.patch(applications, { name, namespace }, { status: { conditions } }, { as: "merge" });
  } else if (finalizers.includes(CASCADE_FINALIZER)) {
    const others = finalizers.filter((finalizer) => finalizer !== CASCADE_FINALIZER);
    await client.patch(applications, { name, namespace }, { metadata: { finalizers: others } }, { as: "merge" });
  }
}

const WHEN = "2026-01-01T00:00:00Z";

const UNRENDERED = { type: "ComparisonError", message: "no template", lastTransitionTime: WHEN };
const HEALTH = {
  ...{ healthy: "Healthy", undeletable: "Healthy", progressing: "Progressing", degraded: "Degraded" },
  ...{ unsyncable: "Missing", unrendered: "Unknown" },
} as const;

function statusOf(application: WireObject, fate: Exclude<Fate, "ignored">): object {
  const source = sourceOf(application);
  const { destination } = application.spec as { destination: object };
  const isRefused = fate === "unsyncable";
  return {
    health: { status: HEALTH[fate] },
    sync: {
      comparedTo: { destination, source },
      revision: "0123456789abcdef0123456789abcdef01234567",
      status: isRefused ? "OutOfSync" : fate === "unrendered" ? "Unknown" : "Synced",
    },
    ...(fate === "unrendered" ? { conditions: [UNRENDERED] } : {}),
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
