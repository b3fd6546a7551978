import { titleOf } from "../../../crds/object-title.ts";
import { equalJson } from "../../kit/equal-json.ts";
import type { Blocker, ObservedObject } from "../../ports/cluster.ts";
import type { NamedObject, ObservedApplication, SyncedObject } from "../../ports/deployer.ts";

/** Used part of an Application's status. https://argo-cd.readthedocs.io/en/stable/operator-manual/application.yaml */
export interface ApplicationStatus {
  readonly sync?: {
    readonly status?: string;
    readonly revision?: string;
    readonly comparedTo?: { readonly source?: unknown };
  };
  readonly health?: Health;
  readonly conditions?: readonly {
    readonly type: string;
    readonly message?: string;
    readonly lastTransitionTime?: string;
  }[];
  readonly operationState?: {
    readonly phase?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
    readonly operation?: {
      readonly sync?: { readonly autoHealAttemptsCount?: number; readonly resources?: readonly NamedObject[] };
    };
    readonly syncResult?: {
      readonly source?: unknown;
      readonly revision?: string;
      readonly resources?: readonly SyncedResource[];
    };
  };
  readonly resources?: readonly { readonly kind: string; readonly name: string; readonly health?: Health }[];
  readonly reconciledAt?: string;
}

interface Health {
  readonly status?: string;
  readonly message?: string;
  /** Time of the last change; since Argo CD 3.0. */
  readonly lastTransitionTime?: string;
}

interface SyncedResource {
  readonly kind: string;
  readonly name: string;
  readonly status?: string;
  /** `PreSync`, `Sync`, `PostSync` or `SyncFail` for a hook, Helm's too; else empty. */
  readonly hookType?: string;
  readonly hookPhase?: string;
  readonly message?: string;
}

interface Target {
  readonly source: unknown;
  readonly revision: string | undefined;
}

/**
 * Cached part of the status: times and retries change constantly without news, so they become `isCalm`. Only the
 * health's time stays, which changes with the health alone.
 */
export interface KeptApplicationStatus
  extends Omit<ApplicationStatus, "operationState" | "resources" | "reconciledAt"> {
  /** True when no sync runs, and Argo CD has reconciled the application after the last one. */
  readonly isCalm: boolean;
  readonly kinds: readonly string[];
  readonly failedSync?: Target & { readonly message: string; readonly hooks: readonly SyncedObject[] };
  /** The running sync, while it waits for its objects. */
  readonly waitingSync?: Target & { readonly startedAt: string; readonly objects: readonly SyncedObject[] };
  /** The sync that has failed and will be tried again, between its attempts. */
  readonly retriedSync?: Target;
  /** Objects that drift again after each of several repairs. */
  readonly keepsChanging: readonly NamedObject[];
  /** Jobs that the last sync could not change, also between its attempts. */
  readonly unchangedJobs?: UnchangedJobs;
}

/** Jobs, but no hooks, of which a sync wanted other pods than they were made with, which Kubernetes refuses. */
export interface UnchangedJobs {
  /** The beginning of the sync: a Job of these names that is younger was made by it. */
  readonly startedAt: string;
  readonly names: readonly string[];
}

/**
 * Keeps what is read: the rest is most of an Application's bytes. `operation` is a request that has not begun; the sync before it
 * has failed for good no more.
 */
export function keptStatus(status: ApplicationStatus, operation: unknown): KeptApplicationStatus {
  const { sync, health, conditions = [], operationState, resources = [], reconciledAt = "" } = status;
  const { phase = "Succeeded", message = "", finishedAt = "", syncResult } = operationState ?? {};
  const target = { source: syncResult?.source, revision: syncResult?.revision };
  const waitingSync = waitingSyncOf(operationState);
  const unchangedJobs = unchangedJobsOf(operationState);
  return {
    sync: { ...sync, comparedTo: { source: sync?.comparedTo?.source } },
    health: keptHealth(health),
    conditions: conditions.map(({ type, message: text }) => ({
      type,
      ...(text === undefined ? {} : { message: essence(text) }),
    })),
    isCalm: operation === undefined && phase !== "Running" && phase !== "Terminating" && reconciledAt >= finishedAt,
    kinds: [...new Set(resources.map(({ kind }) => kind))].sort(),
    ...(isFailed(phase) && operation === undefined
      ? {
          failedSync: {
            ...target,
            message: syncWords(message, syncResult?.resources),
            hooks: (syncResult?.resources ?? []).filter(isFailedHook).map(synced),
          },
        }
      : {}),
    ...(waitingSync === undefined ? {} : { waitingSync: { ...target, ...waitingSync } }),
    ...(isBetweenAttempts(operationState) ? { retriedSync: target } : {}),
    keepsChanging: changingObjects(operationState),
    ...(unchangedJobs === undefined ? {} : { unchangedJobs }),
  };
}

export type OperationState = NonNullable<ApplicationStatus["operationState"]>;

const OBJECTS_KEPT = 5;

const synced = ({ kind, name, hookType = "" }: SyncedResource): SyncedObject => ({
  kind,
  name,
  ...(hookType === "" ? {} : { hook: hookType }),
});

/**
 * Only the message shows that a sync waits: applied objects are briefly Running in every sync.
 * https://github.com/argoproj/argo-cd/blob/master/gitops-engine/pkg/sync/sync_context.go, `setRunningPhase`
 */
function waitingSyncOf({ phase, message = "", startedAt, syncResult }: OperationState = {}) {
  if (phase !== "Running" || startedAt === undefined || !message.startsWith("waiting for ")) return undefined;
  const running = (syncResult?.resources ?? []).filter(({ hookPhase }) => hookPhase === "Running");
  const hooks = running.filter(({ hookType = "" }) => hookType !== "");
  return { startedAt, objects: (hooks.length > 0 ? hooks : running).slice(0, OBJECTS_KEPT).map(synced) };
}

/**
 * Only the message tells the pause from an attempt.
 * https://github.com/argoproj/argo-cd/blob/master/controller/appcontroller.go, `processRequestedAppOperation`
 */
const isBetweenAttempts = ({ phase, message = "" }: OperationState = {}) =>
  phase === "Running" && message.includes(" Retrying attempt #");

/** Repairs by Argo CD after which an object keeps changing; its pauses grow each time. */
const HEALED_TIMES = 3;

/** https://github.com/argoproj/argo-cd/blob/master/controller/appcontroller.go, `autoSync` */
function changingObjects({ operation }: OperationState = {}): readonly NamedObject[] {
  const { autoHealAttemptsCount = 0, resources = [] } = operation?.sync ?? {};
  if (autoHealAttemptsCount < HEALED_TIMES) return [];
  return resources.slice(0, OBJECTS_KEPT).map(({ kind, name }) => ({ kind, name }));
}

function unchangedJobsOf({ startedAt = "", syncResult }: OperationState = {}): UnchangedJobs | undefined {
  const names = (syncResult?.resources ?? [])
    .filter(({ kind, status, hookType = "" }) => kind === "Job" && status === "SyncFailed" && hookType === "")
    .filter(({ message = "" }) => isUnchangeable(message))
    .map(({ name }) => name)
    .sort();
  return names.length === 0 ? undefined : { startedAt, names };
}

/** The API server's words alone show that it does not let a field change. */
const isUnchangeable = (message: string) =>
  /field is immutable|updates to \w+ spec for fields other than/.test(message);

const isFailedHook = ({ hookType = "", hookPhase = "" }: SyncedResource) => hookType !== "" && isFailed(hookPhase);

/** True for a failed sync or hook. */
export const isFailed = (phase: string) => phase === "Failed" || phase === "Error";

const keptHealth = ({ status, lastTransitionTime }: Health = {}): Health => ({
  ...(status !== undefined && { status }),
  ...(lastTransitionTime !== undefined && { lastTransitionTime }),
});

/** Argo CD's objections to the deletion of an Application: current conditions whose type ends in `Error`. */
export function deletionErrors(application: ObservedObject | undefined): readonly Blocker[] {
  const { conditions = [] } = (application?.status ?? {}) as Partial<KeptApplicationStatus>;
  const name = application?.metadata.name ?? "";
  return conditions
    .filter(({ type }) => type.endsWith("Error"))
    .map(({ type, message = "" }) => ({ kind: "Application", name, reason: type, message }));
}

/** Prefixes of a failed rendering; the command line among them names another temporary file each time. */
const PREFACES = [
  /^Failed to load target state: failed to generate manifest for source \d+ of \d+: rpc error: code = Unknown desc = /,
  /^Manifest generation error \(cached\): /,
  /^failed to execute helm template command: [\s\S]*?`helm template [\s\S]*?` failed exit status \d+: /,
];

/** Drops the parts that vary between attempts, so that the same failure keeps its message. */
function essence(message: string): string {
  const short = PREFACES.reduce((rest, preface) => rest.replace(preface, ""), message);
  return withEnd(short.replace(/\/tmp\/[\w./-]+/g, "/tmp/…").replace(/:\d+->/g, "->"), LONGEST_MESSAGE);
}

const LONGEST_MESSAGE = 1_200;
const RESOURCES_NAMED = 3;
/** Three of them fit into a condition, with the sentence before. */
const LONGEST_OF_RESOURCE = 500;

/** Kubernetes dumps objects in the middle of its messages and gives the reason at the end, so the middle is cut. */
function withEnd(message: string, maxLength: number): string {
  if (message.length <= maxLength) return message;
  const beginning = Math.floor(maxLength / 4);
  return `${message.slice(0, beginning)} … ${message.slice(message.length - (maxLength - beginning - 3))}`;
}

/** Failures of single objects, where the operation only says that some failed. */
function syncWords(message: string, resources: readonly SyncedResource[] = []): string {
  const failed = resources
    .filter((resource) => resource.status === "SyncFailed" || isFailedHook(resource))
    .map(failureOf)
    // Sorted: parallel order must not change the message.
    .sort();
  return failed.length === 0 ? essence(message) : failed.slice(0, RESOURCES_NAMED).join("; ");
}

function failureOf({ kind, name, hookType = "", message = "" }: SyncedResource): string {
  const title = titleOf({ kind, name, hook: hookType });
  // Argo CD's word for a hook whose sync was ended.
  if (message === "Terminated") return `${title}: it was ended before it was done`;
  const wayOut = wayOutOf(kind, message);
  return `${title}: ${wayOut === "" ? "" : `${wayOut}; `}${withEnd(essence(message), LONGEST_OF_RESOURCE)}`;
}

function wayOutOf(kind: string, message: string): string {
  if (!isUnchangeable(message)) return "";
  const again = "have it made anew with the annotation argocd.argoproj.io/sync-options: Force=true,Replace=true";
  const others =
    kind === "Job"
      ? ", make it a hook, or give it ttlSecondsAfterFinished, so that it is made anew once it has ended"
      : "";
  return `it can't be changed: ${again}${others}`;
}

/** State of the desired source in an Application's status; the status is empty before Argo CD has seen it. */
export function observed(status: Partial<KeptApplicationStatus>, source: unknown): ObservedApplication {
  const { kinds = [], keepsChanging = [] } = status;
  const hasUnchangedJobs = status.unchangedJobs !== undefined;
  const { retriedSync } = status;
  return {
    ...stateOf(status, source),
    kinds,
    keepsChanging,
    hasUnchangedJobs,
    hasOutdatedRetries: retriedSync !== undefined && isOutdated(retriedSync, status, source),
    ...waitingSync(status, source),
  };
}

function waitingSync(
  status: Partial<KeptApplicationStatus>,
  source: unknown,
): Pick<ObservedApplication, "waitingSync"> {
  if (status.waitingSync === undefined) return {};
  const { startedAt, objects } = status.waitingSync;
  return {
    waitingSync: { since: new Date(startedAt), objects, isOutdated: isOutdated(status.waitingSync, status, source) },
  };
}

/** A running sync is outdated once another source or revision is compared. */
function isOutdated(running: Target, { sync }: Partial<KeptApplicationStatus>, source: unknown): boolean {
  const isOfSource = equalJson(running.source, source);
  return !isOfSource || (equalJson(sync?.comparedTo?.source, source) && isOther(running.revision, sync?.revision));
}

const isOther = (one: string | undefined, other: string | undefined) => !!one && !!other && one !== other;

type State = Omit<
  ObservedApplication,
  "kinds" | "keepsChanging" | "hasUnchangedJobs" | "hasOutdatedRetries" | "waitingSync"
>;

function stateOf(status: Partial<KeptApplicationStatus>, source: unknown): State {
  const revision = status.sync?.revision ?? "";
  const problem = status.conditions?.find(({ type }) => type.endsWith("Error") && type !== "SyncError");
  const words = problem && `${problem.type}: ${problem.message ?? ""}`;
  // Other fields may still describe the previous values.
  if (!equalJson(status.sync?.comparedTo?.source, source)) {
    return { state: "unseen", revision, message: words ?? "waiting for Argo CD to compare the application" };
  }
  if (words !== undefined) return { state: "broken", revision, ...comparisonProblem(words) };
  if (status.sync?.status !== "Synced") return unsynced(status, revision, source);
  if (!status.isCalm) return { state: "waiting", revision, message: "Argo CD is syncing the application" };
  const at = status.health?.lastTransitionTime;
  return { ...healthOf(status, revision), ...(at !== undefined && { since: new Date(at) }) };
}

type Problem = Required<Pick<ObservedApplication, "problem" | "message">>;

/** Words of git, of Helm and of registries for a login that is missing or refused, all of which Argo CD passes on. */
const UNAUTHORIZED =
  /authentication required|authorization failed|authentication failed|could not read Username|credential not found|\b40[13]\b|unauthorized/i;

function comparisonProblem(words: string): Problem {
  // gRPC's word for a repo-server that is down or slow, passed on as text.
  if (/rpc error: code = (Unavailable|DeadlineExceeded)/.test(words)) {
    return { problem: "DeployerUnavailable", message: `a part of Argo CD does not answer: ${words}` };
  }
  if (UNAUTHORIZED.test(words)) {
    const what =
      "the place of the chart can't be read with this login, or without one: name a credential of it in chart.credentialsRef, or renew that credential in the secret manager";
    return { problem: "ChartInvalid", message: `${what}; Argo CD says ${words}` };
  }
  const what =
    "the chart gives no manifests: correct it, its place (chart of the Repository), or the values given to it";
  return { problem: "ChartInvalid", message: `${what}; Argo CD says ${words}` };
}

function unsynced(
  { failedSync, conditions, isCalm }: Partial<KeptApplicationStatus>,
  revision: string,
  source: unknown,
): State {
  const isAboutThis =
    failedSync !== undefined && equalJson(failedSync.source, source) && !isOther(failedSync.revision, revision);
  const refusal = conditions?.find(({ type }) => type === "SyncError");
  // A running sync may repair this condition.
  const said = isAboutThis ? failedSync.message : isCalm ? refusal?.message : undefined;
  if (said === undefined) return { state: "waiting", revision, message: "Argo CD is syncing the application" };
  const failedHooks = isAboutThis ? failedSync.hooks : [];
  return { state: "broken", revision, ...syncProblem(said), failedHooks };
}

function syncProblem(said: string): Problem {
  // Only these words of the quota admission distinguish both cases.
  if (said.includes("status unknown for quota")) {
    const what = "the cluster has not counted the environment's quota yet, and takes nothing before; it is tried again";
    return { problem: "QuotaUncounted", message: `${what}: ${said}` };
  }
  if (said.includes("exceeded quota")) {
    const what = "the environment's quota leaves no room for what the chart makes: lower it, or have the quota raised";
    return { problem: "QuotaExceeded", message: `${what}; Argo CD says ${said}` };
  }
  return { problem: "SyncFailed", message: `the cluster did not take all that the chart makes: ${said}` };
}

function healthOf({ health }: Partial<KeptApplicationStatus>, revision: string): State {
  const said = health?.status ?? "Unknown";
  if (said === "Healthy") return { state: "healthy", revision, message: "" };
  if (said === "Degraded") {
    const message = "Argo CD calls the application degraded: see its pods";
    return { state: "broken", problem: "DeploymentFailed", revision, message };
  }
  const message = `Argo CD calls the application ${said.toLowerCase()}: pods are starting`;
  return { state: "progressing", revision, message };
}
