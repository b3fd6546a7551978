import type { Settings } from "../../../config/settings.ts";
import { clipped } from "../../../crds/conditions.ts";
import { digestOf } from "../../../crds/digest.ts";
import { commitStatusKey } from "../../../crds/environment/commit-status.ts";
import type { FeedbackStatus } from "../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../crds/present.ts";
import {
  type DesiredReports,
  desiredReports,
  type ReportSubject,
  subjectOf,
} from "../../host-reports/desired-reports.ts";
import { isUnavailable } from "../../kit/client/errors.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import type { Log } from "../../kit/log.ts";
import type { EnvironmentStatusWriter } from "../../ports/environments.ts";
import type { RepositoryFinder } from "../../ports/repositories.ts";
import { type PullRequestHost, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";

const STORE_AGAIN_MS = 5_000;

/** The settings and ports of the feedback to hosts of pull requests. */
export interface PullRequestFeedbackDependencies {
  readonly settings: Settings;
  readonly log: Log;
  /** The environment from this process's cache, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  readonly statusWriter: EnvironmentStatusWriter;
  readonly repositories: RepositoryFinder;
  /** Environments that may report the status of this commit, see `commitStatusKey`. */
  readonly reportersOf: (key: string) => readonly EphemeralEnvironment[];
  readonly pullRequestHost: PullRequestHost;
}

/**
 * Reports an environment to the host of its pull request or pipeline: its commit status, deployment and comment. Each
 * state is reported once, because reports are stored in the environment's status.
 * The controller retries a failed commit status. The teardown reports the end, see `reportDeleted`.
 */
export function createFeedbackReconciler(context: PullRequestFeedbackDependencies): Reconcile {
  /** Reports that could not be stored yet, by the environment's name. */
  const unstored = new Map<string, { readonly uid: string; readonly feedback: FeedbackStatus }>();
  /** Commits whose status another environment than its owner may have reported last, by `commitStatusKey`. */
  const replaced = new Set<string>();
  const host = context.pullRequestHost;

  const lasting = (name: string) => {
    const environment = context.environment(name);
    return environment?.metadata.deletionTimestamp === undefined ? environment : undefined;
  };
  const former = ({ metadata: { name, uid }, status }: EphemeralEnvironment) => {
    const newer = unstored.get(name);
    return (newer?.uid === uid ? newer.feedback : status?.feedback) ?? {};
  };
  const store = async ({ metadata: { name, uid } }: EphemeralEnvironment, feedback: FeedbackStatus) => {
    unstored.set(name, { uid, feedback });
    // The calls may have taken seconds.
    const latest = context.environment(name);
    if (latest?.metadata.uid === uid && !equalJson(latest.status?.feedback ?? {}, feedback)) {
      await context.statusWriter.writeStatus(latest, { ...latest.status, feedback });
    }
    unstored.delete(name);
  };

  return async (name, { signal }) => {
    const environment = lasting(name);
    if (environment === undefined) unstored.delete(name);
    const subject = environment && subjectOf(environment, context);
    if (environment === undefined || subject === undefined) return;
    const previous = withOwnStatus(former(environment), subject, replaced);
    const withPrevious = { ...environment, status: { ...environment.status, feedback: previous } };
    const desired = desiredReports(withPrevious, subject, context.settings.publicUrl);
    const isLasting = () => lasting(name)?.metadata.uid === environment.metadata.uid;
    const { feedback, error } = await reportChanges(previous, { host, subject, desired, signal, isLasting });
    const storeError = await store(environment, feedback).catch((failure: unknown) => {
      context.log.warn("what was reported to the host is not stored yet", { environment: name, error: failure });
      return failure;
    });
    return error === undefined ? afterStoring(storeError) : retryOfReports(error);
  };
}

/**
 * Former reports, without the status of a commit that is another environment's to report, or that one may have replaced.
 *
 * @param replaced commits of the second kind, by `commitStatusKey`
 */
function withOwnStatus(
  { status, ...others }: FeedbackStatus,
  subject: ReportSubject,
  replaced: Set<string>,
): FeedbackStatus {
  const key = commitStatusKey(subject.name, subject.commit ?? "");
  if (subject.isStatusOwner) return replaced.delete(key) ? others : { ...others, ...present({ status }) };
  if (status !== undefined) replaced.add(key);
  return others;
}

/** Retries a failed commit status, deployment or comment: at the host's time, else by the controller's backoff. */
function retryOfReports(error: unknown): ReconcileResult {
  const retryAfterMs = error instanceof PullRequestHostFailed ? error.retryAfterMs : undefined;
  if (retryAfterMs === undefined) throw error;
  return { requeueAfterMs: retryAfterMs };
}

/** The controller's backoff is for the host: reports must reach a recovered API server soon. */
function afterStoring(failure: unknown): ReconcileResult {
  if (failure === undefined) return {};
  if (!isUnavailable(failure)) throw failure;
  return { requeueAfterMs: STORE_AGAIN_MS };
}

interface Reporting {
  readonly host: PullRequestHost;
  readonly subject: ReportSubject;
  readonly desired: DesiredReports;
  readonly signal: AbortSignal;
  /** False once the environment is gone: its end must be the last report. */
  readonly isLasting: () => boolean;
}

/** Reports the changes of each kind, and answers what to store, with the first error. */
async function reportChanges({ problem: _, ...known }: FeedbackStatus, reporting: Reporting) {
  let feedback: FeedbackStatus = known;
  const errors: unknown[] = [];
  // The commit status first: merges wait for it. All are independent.
  for (const report of [reportCommitStatus, reportDeployment, reportComment]) {
    reporting.signal.throwIfAborted();
    if (!reporting.isLasting()) break;
    try {
      feedback = { ...feedback, ...(await report(known, reporting)) };
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 0) return { feedback };
  const [error] = errors;
  return { feedback: { ...feedback, problem: clipped(error instanceof Error ? error.message : String(error)) }, error };
}

async function reportCommitStatus({ status }: FeedbackStatus, { host, subject, desired, signal }: Reporting) {
  if (desired.status === undefined) return {};
  const lastReportedHash = digestOf(desired.status);
  if (lastReportedHash === status?.lastReportedHash) return {};
  await host.report(subject.repository, desired.status, signal);
  const { commit, state } = desired.status;
  return { status: { commit, state, lastReportedHash } };
}

async function reportDeployment({ deployment }: FeedbackStatus, { host, subject, desired, signal }: Reporting) {
  if (desired.deployment === undefined) return {};
  const lastReportedHash = digestOf(desired.deployment);
  if (lastReportedHash === deployment?.lastReportedHash) return {};
  await host.deploy(subject.repository, desired.deployment, signal);
  return { deployment: { lastReportedHash } };
}

async function reportComment({ comment }: FeedbackStatus, { host, subject, desired, signal }: Reporting) {
  if (desired.comment === undefined) return {};
  const { id: _, mayCreate: __, ...text } = desired.comment;
  const lastReportedHash = digestOf(text);
  if (lastReportedHash === comment?.lastReportedHash) return {};
  const id = await host.comment(subject.repository, desired.comment, signal);
  return id === undefined ? {} : { comment: { id, lastReportedHash } };
}
