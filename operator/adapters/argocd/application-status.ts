import { equalJson } from "../../kit/equal-json.ts";
import type { Blocker, ObservedObject } from "../../ports/cluster.ts";
import type { ObservedApplication } from "../../ports/deployer.ts";

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
    readonly syncResult?: { readonly source?: unknown; readonly resources?: readonly SyncedResource[] };
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
  readonly hookPhase?: string;
  readonly message?: string;
}

/**
 * What the cache keeps of it: times and retries change all the time without meaning anything new, so they become
 * `isCalm`. Only the time of the health stays, which changes with the health alone.
 */
export interface KeptApplicationStatus
  extends Omit<ApplicationStatus, "operationState" | "resources" | "reconciledAt"> {
  /** Whether no sync runs, and Argo CD has reconciled the application after the last one. */
  readonly isCalm: boolean;
  /** The last sync, when it failed. */
  readonly failedSync?: { readonly message: string; readonly source: unknown };
}

/** Keeps what is read: the rest is most of an Application's bytes. `operation` is a request that has not begun. */
export function keptStatus(status: ApplicationStatus, operation: unknown): KeptApplicationStatus {
  const { sync, health, conditions = [], operationState, reconciledAt = "" } = status;
  const { phase = "Succeeded", message = "", finishedAt = "", syncResult } = operationState ?? {};
  return {
    sync: { ...sync, comparedTo: { source: sync?.comparedTo?.source } },
    health: keptHealth(health),
    conditions: conditions.map(({ type, message: text }) => ({
      type,
      ...(text === undefined ? {} : { message: essence(text) }),
    })),
    isCalm: operation === undefined && phase !== "Running" && phase !== "Terminating" && reconciledAt >= finishedAt,
    ...(isFailed(phase)
      ? { failedSync: { message: syncWords(message, syncResult?.resources), source: syncResult?.source } }
      : {}),
  };
}

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
  return short.replace(/\/tmp\/[\w./-]+/g, "/tmp/…").replace(/:\d+->/g, "->");
}

const RESOURCES_NAMED = 3;

/** The failures of single objects, where the operation only says that some failed. */
function syncWords(message: string, resources: readonly SyncedResource[] = []): string {
  const failed = resources
    .filter(({ status }) => status === "SyncFailed")
    .map(({ kind, name, message: said = "" }) => `${kind} '${name}': ${essence(said)}`)
    // They were applied in parallel: another order must not make another message.
    .sort();
  return failed.length === 0 ? essence(message) : failed.slice(0, RESOURCES_NAMED).join("; ");
}

/** What an Application's status says of the wanted source; the status is empty before Argo CD has seen it. */
export function observed(status: Partial<KeptApplicationStatus>, source: unknown): ObservedApplication {
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

function comparisonProblem(said: { readonly type: string; readonly message?: string }): Required<Problem> {
  const words = wordsOf(said);
  // gRPC's own word for a repo-server that is down or too slow, which Argo CD passes on as text.
  if (/rpc error: code = (Unavailable|DeadlineExceeded)/.test(words)) {
    return { problem: "DeployerUnavailable", message: `a part of Argo CD does not answer: ${words}` };
  }
  const what =
    "the chart gives no manifests: correct it, its place (chart of the Repository), or the values given to it";
  return { problem: "ChartInvalid", message: `${what}; Argo CD says ${words}` };
}

function unsynced(
  { failedSync, conditions, isCalm }: Partial<KeptApplicationStatus>,
  revision: string,
  source: unknown,
): ObservedApplication {
  const isAboutThis = failedSync !== undefined && equalJson(failedSync.source, source);
  const refusal = conditions?.find(({ type }) => type === "SyncError");
  // A running sync may repair what this condition still reports.
  const said = isAboutThis ? failedSync.message : isCalm ? refusal?.message : undefined;
  if (said === undefined) return { state: "waiting", revision, message: "Argo CD is syncing the application" };
  return { state: "broken", revision, ...syncProblem(said) };
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

function healthOf({ health }: Partial<KeptApplicationStatus>, revision: string): ObservedApplication {
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
