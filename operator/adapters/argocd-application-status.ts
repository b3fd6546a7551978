import { isDeepStrictEqual } from "node:util";
import type { ObservedApplication } from "../ports/deployer.ts";

/** The part of an Application's status that is judged; whatever else it holds is not even kept. */
export interface ApplicationStatus {
  readonly sync?: {
    readonly status?: string;
    readonly revision?: string;
    readonly comparedTo?: { readonly source?: unknown };
  };
  readonly health?: { readonly status?: string };
  readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  readonly operationState?: {
    readonly phase?: string;
    readonly message?: string;
    readonly finishedAt?: string;
    readonly syncResult?: { readonly source?: unknown };
  };
  readonly reconciledAt?: string;
}

/** What a watch keeps of it: moments and retries change all the time and wake nobody, so they become one answer. */
export interface KeptApplicationStatus extends Omit<ApplicationStatus, "operationState" | "reconciledAt"> {
  /** Whether no sync runs, and the application was looked at after the last one. */
  readonly isCalm: boolean;
  /** The last sync, when it failed. */
  readonly failedSync?: { readonly message: string; readonly source: unknown };
}

/** Keeps what is judged: the rest is most of an Application's bytes. `operation` is what was asked for and not begun. */
export function keptStatus(status: ApplicationStatus, operation: unknown): KeptApplicationStatus {
  const { sync, health, conditions = [], operationState, reconciledAt = "" } = status;
  const { phase = "Succeeded", message = "", finishedAt = "", syncResult } = operationState ?? {};
  const hasFailed = phase === "Failed" || phase === "Error";
  return {
    sync: { ...sync, comparedTo: { source: sync?.comparedTo?.source } },
    health: { ...(health?.status === undefined ? {} : { status: health.status }) },
    conditions: conditions.map(({ type, message: text }) => ({
      type,
      ...(text === undefined ? {} : { message: text }),
    })),
    isCalm: operation === undefined && phase !== "Running" && phase !== "Terminating" && reconciledAt >= finishedAt,
    ...(hasFailed ? { failedSync: { message, source: syncResult?.source } } : {}),
  };
}

/** What an Application's status says of the wanted source; the status is empty before Argo CD has seen it. */
export function observed(status: Partial<KeptApplicationStatus>, source: unknown): ObservedApplication {
  const revision = status.sync?.revision ?? "";
  const problem = status.conditions?.find(({ type }) => type.endsWith("Error"));
  const words = problem && `${problem.type}: ${problem.message ?? ""}`;
  // Everything else that is said may still be about the values before.
  if (!isDeepStrictEqual(status.sync?.comparedTo?.source, source)) {
    return { state: "waiting", revision, message: words ?? "waiting for Argo CD to compare the application" };
  }
  if (words !== undefined) return { state: "broken", revision, message: words };
  if (status.sync?.status !== "Synced") return unsynced(status, revision, source);
  if (!status.isCalm) return { state: "waiting", revision, message: "Argo CD is syncing the application" };
  return judgedHealth(status, revision);
}

function unsynced(
  { failedSync }: Partial<KeptApplicationStatus>,
  revision: string,
  source: unknown,
): ObservedApplication {
  const isAboutThis = failedSync !== undefined && isDeepStrictEqual(failedSync.source, source);
  if (isAboutThis) return { state: "broken", revision, message: `the sync failed: ${failedSync.message}` };
  return { state: "waiting", revision, message: "Argo CD is syncing the application" };
}

function judgedHealth({ health }: Partial<KeptApplicationStatus>, revision: string): ObservedApplication {
  const said = health?.status ?? "Unknown";
  if (said === "Healthy") return { state: "healthy", revision, message: "" };
  if (said === "Degraded")
    return { state: "broken", revision, message: "Argo CD calls the application degraded: see its pods" };
  return {
    state: "progressing",
    revision,
    message: `Argo CD calls the application ${said.toLowerCase()}: pods are starting`,
  };
}
