import { equalJson } from "../../kit/equal-json.ts";
import type { Blocker, ObservedObject } from "../../ports/cluster.ts";
import type { NamedObject, ObservedApplication, SyncedObject } from "../../ports/deployer.ts";

/** The part of an Application's status that is read. https://argo-cd.readthedocs.io/en/stable/operator-manual/application.yaml */
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
  /** Since when it is this one; Argo CD says so since version 3.0. */
  readonly lastTransitionTime?: string;
}

interface SyncedResource {
  readonly kind: string;
  readonly name: string;
  readonly status?: string;
  /** `PreSync`, `Sync`, `PostSync` or `SyncFail` of a hook, also of one that Helm's annotation makes; else empty. */
  readonly hookType?: string;
  readonly hookPhase?: string;
  readonly message?: string;
}

/** What a sync was about. */
interface Target {
  readonly source: unknown;
  readonly revision: string | undefined;
}

/**
 * What the cache keeps of it: times and retries change all the time without meaning anything new, so they become
 * `isCalm`. Only the time of the health stays, which changes with the health alone.
 */
export interface KeptApplicationStatus
  extends Omit<ApplicationStatus, "operationState" | "resources" | "reconciledAt"> {
  /** Whether no sync runs, and Argo CD has reconciled the application after the last one. */
  readonly isCalm: boolean;
  /** The kinds that the chart makes, each once. */
  readonly kinds: readonly string[];
  /** The last sync, when it failed. */
  readonly failedSync?: Target & { readonly message: string; readonly hooks: readonly SyncedObject[] };
  /** The sync that runs, while it waits for what it has made. */
  readonly waitingSync?: Target & { readonly startedAt: string; readonly objects: readonly SyncedObject[] };
  /** What was put back again and again, and differs again each time. */
  readonly keepsChanging: readonly NamedObject[];
}

/** Keeps what is read: the rest is most of an Application's bytes. `operation` is a request that has not begun. */
export function keptStatus(status: ApplicationStatus, operation: unknown): KeptApplicationStatus {
  const { sync, health, conditions = [], operationState, resources = [], reconciledAt = "" } = status;
  const { phase = "Succeeded", message = "", finishedAt = "", syncResult } = operationState ?? {};
  const target = { source: syncResult?.source, revision: syncResult?.revision };
  const waitingSync = waitingSyncOf(operationState);
  return {
    sync: { ...sync, comparedTo: { source: sync?.comparedTo?.source } },
    health: keptHealth(health),
    conditions: conditions.map(({ type, message: text }) => ({
      type,
      ...(text === undefined ? {} : { message: essence(text) }),
    })),
    isCalm: operation === undefined && phase !== "Running" && phase !== "Terminating" && reconciledAt >= finishedAt,
    kinds: [...new Set(resources.map(({ kind }) => kind))].sort(),
    ...(isFailed(phase)
      ? {
          failedSync: {
            ...target,
            message: syncWords(message, syncResult?.resources),
            hooks: (syncResult?.resources ?? []).filter(isFailedHook).map(synced),
          },
        }
      : {}),
    ...(waitingSync === undefined ? {} : { waitingSync: { ...target, ...waitingSync } }),
    keepsChanging: changingObjects(operationState),
  };
}

type OperationState = ApplicationStatus["operationState"];

/** So many objects are kept of a sync. */
const OBJECTS_KEPT = 5;

const synced = ({ kind, name, hookType = "" }: SyncedResource): SyncedObject => ({
  kind,
  name,
  ...(hookType === "" ? {} : { hook: hookType }),
});

/**
 * Nothing but words tells that a sync waits: what it has applied is Running for a moment in every sync.
 * https://github.com/argoproj/argo-cd/blob/master/gitops-engine/pkg/sync/sync_context.go, `setRunningPhase`
 */
function waitingSyncOf({ phase, message = "", startedAt, syncResult }: NonNullable<OperationState> = {}) {
  if (phase !== "Running" || startedAt === undefined || !message.startsWith("waiting for ")) return undefined;
  const running = (syncResult?.resources ?? []).filter(({ hookPhase }) => hookPhase === "Running");
  const hooks = running.filter(({ hookType = "" }) => hookType !== "");
  return { startedAt, objects: (hooks.length > 0 ? hooks : running).slice(0, OBJECTS_KEPT).map(synced) };
}

/** So often Argo CD puts an object back before it counts as one that keeps changing; its pauses grow each time. */
const HEALED_TIMES = 3;

/** https://github.com/argoproj/argo-cd/blob/master/controller/appcontroller.go, `autoSync` */
function changingObjects({ operation }: NonNullable<OperationState> = {}): readonly NamedObject[] {
  const { autoHealAttemptsCount = 0, resources = [] } = operation?.sync ?? {};
  if (autoHealAttemptsCount < HEALED_TIMES) return [];
  return resources.slice(0, OBJECTS_KEPT).map(({ kind, name }) => ({ kind, name }));
}

const isFailedHook = ({ hookType = "", hookPhase = "" }: SyncedResource) => hookType !== "" && isFailed(hookPhase);

/** Of a sync, or of one of its hooks. */
export const isFailed = (phase: string) => phase === "Failed" || phase === "Error";

function keptHealth({ status, lastTransitionTime }: Health = {}): Health {
  return {
    ...(status === undefined ? {} : { status }),
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
  };
}

/** What Argo CD says against the deletion of an Application: its conditions hold while they are there, and errors end in `Error`. */
export function deletionErrors(application: ObservedObject | undefined): readonly Blocker[] {
  const { conditions = [] } = (application?.status ?? {}) as Partial<KeptApplicationStatus>;
  const name = application?.metadata.name ?? "";
  return conditions
    .filter(({ type }) => type.endsWith("Error"))
    .map(({ type, message = "" }) => ({ kind: "Application", name, reason: type, message }));
}

/** The prefaces of a failed rendering; the command line among them names another temporary file each time. */
const PREFACES = [
  /^Failed to load target state: failed to generate manifest for source \d+ of \d+: rpc error: code = Unknown desc = /,
  /^Manifest generation error \(cached\): /,
  /^failed to execute helm template command: [\s\S]*?`helm template [\s\S]*?` failed exit status \d+: /,
];

/** Without the parts that differ from one attempt to the next, so that the same failure keeps the same message. */
function essence(message: string): string {
  const short = PREFACES.reduce((rest, preface) => rest.replace(preface, ""), message);
  return withEnd(short.replace(/\/tmp\/[\w./-]+/g, "/tmp/…").replace(/:\d+->/g, "->"), LONGEST_MESSAGE);
}

const LONGEST_MESSAGE = 1_200;
const RESOURCES_NAMED = 3;
/** Three of them fit into a condition, beside the sentence before them. */
const LONGEST_OF_RESOURCE = 500;

/** Kubernetes dumps objects in the middle of its messages and gives the reason at the end, so the middle is left out. */
function withEnd(message: string, maxLength: number): string {
  if (message.length <= maxLength) return message;
  const beginning = Math.floor(maxLength / 4);
  return `${message.slice(0, beginning)} … ${message.slice(message.length - (maxLength - beginning - 3))}`;
}

/** The failures of single objects, where the operation only says that some failed. */
function syncWords(message: string, resources: readonly SyncedResource[] = []): string {
  const failed = resources
    .filter((resource) => resource.status === "SyncFailed" || isFailedHook(resource))
    .map(failureOf)
    // They were applied in parallel: another order must not make another message.
    .sort();
  return failed.length === 0 ? essence(message) : failed.slice(0, RESOURCES_NAMED).join("; ");
}

function failureOf({ kind, name, hookType = "", message = "" }: SyncedResource): string {
  const title = `${kind}/${name}${hookType === "" ? "" : ` (hook ${hookType})`}`;
  // Argo CD's word for a hook whose sync was ended.
  if (message === "Terminated") return `${title}: it was ended before it was done`;
  const wayOut = wayOutOf(kind, message);
  return `${title}: ${wayOut === "" ? "" : `${wayOut}; `}${withEnd(essence(message), LONGEST_OF_RESOURCE)}`;
}

/** What helps where the API server does not let a field change: nothing but its words tells this refusal from others. */
function wayOutOf(kind: string, message: string): string {
  if (!/field is immutable|updates to \w+ spec for fields other than/.test(message)) return "";
  const again = "have it made anew with the annotation argocd.argoproj.io/sync-options: Force=true,Replace=true";
  const others = kind === "Job" ? ", make it a hook, or give it a name with the commit" : "";
  return `it can't be changed: ${again}${others}`;
}

/** What an Application's status says of the wanted source; the status is empty before Argo CD has seen it. */
export function observed(status: Partial<KeptApplicationStatus>, source: unknown): ObservedApplication {
  const { kinds = [], keepsChanging = [] } = status;
  return { ...stateOf(status, source), kinds, keepsChanging, ...waitingSync(status, source) };
}

/** The sync that waits; it is outdated once another source or revision is compared. */
function waitingSync(
  { waitingSync: waits, sync }: Partial<KeptApplicationStatus>,
  source: unknown,
): Pick<ObservedApplication, "waitingSync"> {
  if (waits === undefined) return {};
  const { startedAt, objects, revision } = waits;
  const isOfSource = equalJson(waits.source, source);
  const isOutdated = !isOfSource || (equalJson(sync?.comparedTo?.source, source) && isOther(revision, sync?.revision));
  return { waitingSync: { since: new Date(startedAt), objects, isOutdated } };
}

const isOther = (one: string | undefined, other: string | undefined) => !!one && !!other && one !== other;

type State = Omit<ObservedApplication, "kinds" | "keepsChanging" | "waitingSync">;

function stateOf(status: Partial<KeptApplicationStatus>, source: unknown): State {
  const revision = status.sync?.revision ?? "";
  const problem = status.conditions?.find(({ type }) => type.endsWith("Error") && type !== "SyncError");
  const words = problem && wordsOf(problem);
  // All other fields may still describe the previous values.
  if (!equalJson(status.sync?.comparedTo?.source, source)) {
    return { state: "unseen", revision, message: words ?? "waiting for Argo CD to compare the application" };
  }
  if (problem !== undefined) return { state: "broken", revision, ...comparisonProblem(problem) };
  if (status.sync?.status !== "Synced") return unsynced(status, revision, source);
  if (!status.isCalm) return { state: "waiting", revision, message: "Argo CD is syncing the application" };
  const { lastTransitionTime } = status.health ?? {};
  const since = lastTransitionTime === undefined ? {} : { since: new Date(lastTransitionTime) };
  return { ...healthOf(status, revision), ...since };
}

type Problem = Pick<ObservedApplication, "problem" | "message">;

const wordsOf = ({ type, message = "" }: { type: string; message?: string }) => `${type}: ${message}`;

/** Words of git, of Helm and of registries for a login that is missing or refused, all of which Argo CD passes on. */
const UNAUTHORIZED =
  /authentication required|authorization failed|authentication failed|could not read Username|credential not found|\b40[13]\b|unauthorized/i;

function comparisonProblem(said: { readonly type: string; readonly message?: string }): Required<Problem> {
  const words = wordsOf(said);
  // gRPC's own word for a repo-server that is down or too slow, which Argo CD passes on as text.
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
  // A running sync may repair what this condition still reports.
  const said = isAboutThis ? failedSync.message : isCalm ? refusal?.message : undefined;
  if (said === undefined) return { state: "waiting", revision, message: "Argo CD is syncing the application" };
  const failedHooks = isAboutThis ? failedSync.hooks : [];
  return { state: "broken", revision, ...syncProblem(said), failedHooks };
}

function syncProblem(said: string): Required<Problem> {
  // Only these words of the quota admission tell both cases from other refusals.
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
  return {
    state: "progressing",
    revision,
    message: `Argo CD calls the application ${said.toLowerCase()}: pods are starting`,
  };
}
