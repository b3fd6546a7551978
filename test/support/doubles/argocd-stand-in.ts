import { isDeepStrictEqual } from "node:util";
import { namespaceName } from "../../../crds/names.ts";
import { applicationKind } from "../../../operator/adapters/argocd/kinds.ts";
import { createObjectCache } from "../../../operator/kit/cache/indexed-cache.ts";
import { createReflector } from "../../../operator/kit/cache/reflector.ts";
import { isConflict, isNotFound, isUnavailable } from "../../../operator/kit/client/errors.ts";
import type { WireObject } from "../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { pause, systemClock } from "../../../operator/kit/time/clock.ts";
import { silentLog } from "../fixtures/silent-log.ts";

const applications = applicationKind;
/** Retry interval while the API server is away. */
const AWAY_MS = 500;

/**
 * The course of an application: `progressing` is synced with pods that start and start, `degraded` with pods that
 * don't come up, `unsyncable` is refused by the API server, `unrendered` has a chart that gives no manifests, `ignored`
 * is not looked at, `undeletable` is healthy until it is to go, and then never does; `hooked` is held up by a hook that never
 * ends, whatever is wanted, until its operation is ended; `unchanged` has Jobs `migrate` and `seed` that can't be
 * changed.
 */
export type Fate =
  | "hooked"
  | "healthy"
  | "progressing"
  | "degraded"
  | "unsyncable"
  | "unchanged"
  | "unrendered"
  | "ignored"
  | "undeletable";

/** Decides the behaviour by the chart's values, and by whether a retry was ever requested. */
export type FateOf = (values: Readonly<Record<string, unknown>>, isRetried: boolean) => Fate;

/** A stand-in for Argo CD where only the control plane runs: every application is synced and healthy at once. */
export interface ArgocdStandIn {
  /** Changes the behaviour of this environment's application from now on. */
  decide(environment: string, fate: FateOf): void;
  stop(): Promise<void>;
}

/**
 * Answers Applications as Argo CD's controller does (compared source, synced, healthy; cascade finalizer removed on
 * deletion) without deploying anything. e2e uses the real Argo CD.
 */
export async function startArgocdStandIn(client: KubeClient): Promise<ArgocdStandIn> {
  const cache = createObjectCache<WireObject>();
  const reflector = createReflector({ client, type: applications, cache, namespace: "argocd", log: silentLog });
  const fates = new Map<string, FateOf>();
  const answers = new Set<Promise<void>>();
  const stopping = new AbortController();
  const fateOf = (application: WireObject): Fate => {
    const { name, annotations } = application.metadata;
    return fates.get(name)?.(valuesOf(application), annotations?.[RETRIED_AT] !== undefined) ?? "healthy";
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
  const isHeld = isHeldBy(application, fate);
  try {
    if (deletionTimestamp !== undefined && !isHeld) return await bury(client, application, fate);
    if (fate === "ignored") return;
    const { status, wishes } = replyTo(application, isHeld ? "held" : fate);
    if (isDeepStrictEqual(application.status, status) && wishes.length === 0) return;
    const heard = wishes.map((path) => ({ op: "remove", path }));
    await client.patch(applications, ref, [{ op: "add", path: "/status", value: status }, ...heard], { as: "json" });
  } catch (error) {
    // The watch delivers a newer version of the object.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

function replyTo(application: WireObject, fate: Sayable | "held") {
  if (fate === "held") return { status: heldStatus(application), wishes: [] };
  return { status: statusOf(application, fate), wishes: wishesOf(application) };
}

/** True while an operation runs, begins or ends; a deletion waits for it. */
function isHeldBy(application: WireObject, fate: Fate): boolean {
  const { phase = "" } = operationOf(application) ?? {};
  const mayBegin = fate === "hooked" && phase === "" && application.metadata.deletionTimestamp === undefined;
  return mayBegin || phase === "Running" || phase === "Terminating";
}

const RETRIED_AT = "ephemeral-environments.dev/retried-at";
const REFRESH = "argocd.argoproj.io/refresh";

/** The application's requests as JSON pointers, for their removal. */
function wishesOf({ metadata, operation }: WireObject): string[] {
  const refresh =
    metadata.annotations?.[REFRESH] === undefined ? [] : [`/metadata/annotations/${REFRESH.replace("/", "~1")}`];
  return operation === undefined ? refresh : ["/operation", ...refresh];
}

const CASCADE_FINALIZER = "resources-finalizer.argocd.argoproj.io";

interface HeldStatus {
  readonly operationState?: { readonly phase?: string; readonly syncResult?: object };
}
const operationOf = ({ status }: WireObject) => (status as HeldStatus | undefined)?.operationState;

/** The age of a hook when it is first seen: enough to be reported, within the limit. */
const HOOK_RAN_MS = 60_000;

/** The status during a hook, or after the end of its operation: about the source with which it began. */
function heldStatus(application: WireObject): object {
  const isEnding = operationOf(application)?.phase === "Terminating";
  const source = sourceOf(application);
  const { destination } = application.spec as { destination: object };
  const begun = operationOf(application) ?? {
    operation: { sync: {} },
    message: "waiting for completion of hook batch/Job/migrate",
    startedAt: `${new Date(Date.now() - HOOK_RAN_MS).toISOString().slice(0, 19)}Z`,
    syncResult: { revision: "", source },
  };
  const hook = { group: "batch", version: "v1", kind: "Job", namespace: application.metadata.name, name: "migrate" };
  const state = isEnding ? { hookPhase: "Failed", message: "Terminated" } : { hookPhase: "Running", message: "" };
  const resources = [{ ...hook, hookType: "PreSync", syncPhase: "PreSync", ...state }];
  const ended = { phase: "Failed", message: "Operation terminated", finishedAt: WHEN };
  const operationState = {
    ...begun,
    ...(isEnding ? ended : { phase: "Running" }),
    syncResult: { ...begun.syncResult, resources },
  };
  const sync = { comparedTo: { destination, source }, revision: "", status: "OutOfSync" };
  return { health: { status: "Missing" }, sync, operationState, reconciledAt: WHEN };
}

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
  healthy: "Healthy",
  undeletable: "Healthy",
  progressing: "Progressing",
  degraded: "Degraded",
  hooked: "Missing",
  unsyncable: "Missing",
  unchanged: "Healthy",
  unrendered: "Unknown",
} as const;

/** Objects of a chart with several kinds; the test creates them. */
const MADE = [
  { group: "apps", version: "v1", kind: "StatefulSet", name: "cache", status: "Synced" },
  { group: "batch", version: "v1", kind: "CronJob", name: "report", status: "Synced" },
  { group: "autoscaling", version: "v2", kind: "HorizontalPodAutoscaler", name: "backend", status: "Synced" },
];

/** The Job of the environment chart that loads a seed, while the values have one. */
const SEED_JOB = { group: "batch", version: "v1", kind: "Job", name: "database-seed", status: "Synced" };

function resourcesOf(application: WireObject, fate: Fate): object {
  const { source } = application.spec as { source?: { helm?: { valuesObject?: { database?: { seed?: object } } } } };
  const seeded = source?.helm?.valuesObject?.database?.seed === undefined ? [] : [SEED_JOB];
  const resources = [...(fate === "degraded" || fate === "progressing" ? MADE : []), ...seeded];
  return resources.length === 0 ? {} : { resources };
}

/** Behaviours with a status. A terminated hook has failed. */
type Sayable = Exclude<Fate, "ignored">;

function statusOf(application: WireObject, fate: Sayable): object {
  const source = sourceOf(application);
  const { destination } = application.spec as { destination: object };
  const isRefused = fate === "unsyncable" || fate === "unchanged" || fate === "hooked";
  return {
    health: { status: HEALTH[fate] },
    ...resourcesOf(application, fate),
    sync: {
      comparedTo: { destination, source },
      revision: "0123456789abcdef0123456789abcdef01234567",
      status: isRefused ? "OutOfSync" : fate === "unrendered" ? "Unknown" : "Synced",
    },
    ...(fate === "unrendered" ? { conditions: [UNRENDERED] } : {}),
    ...(isRefused ? { operationState: refusal(application, fate), reconciledAt: WHEN } : {}),
  };
}

/** Moment after whatever a test has made. */
const LATER = "2099-01-01T00:00:00Z";

function unchangedJobs(namespace: string): object[] {
  return ["migrate", "seed"].map((name) => {
    const message = `Job.batch "${name}" is invalid: spec.template: Invalid value: {}: field is immutable`;
    const state = { status: "SyncFailed", syncPhase: "Sync", hookPhase: "Failed", message };
    return { group: "batch", version: "v1", kind: "Job", namespace, name, ...state };
  });
}

function refusal(application: WireObject, fate: Fate): object {
  const isUnchanged = fate === "unchanged";
  const source = sourceOf(application);
  return {
    phase: "Failed",
    message: "one or more objects failed to apply",
    operation: { sync: {} },
    startedAt: isUnchanged ? LATER : WHEN,
    finishedAt: WHEN,
    syncResult: {
      revision: "",
      source,
      ...(isUnchanged ? { resources: unchangedJobs(application.metadata.name) } : {}),
    },
  };
}
