import type { Settings } from "../../../config/settings.ts";
import { clipped } from "../../../crds/conditions.ts";
import type { FeedbackStatus } from "../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import {
  type DesiredReports,
  desiredReports,
  hashOf,
  type ReportSubject,
  subjectOf,
} from "../../host-reports/desired-reports.ts";
import { isUnavailable } from "../../kit/client/errors.ts";
import type { Reconcile, ReconcileResult } from "../../kit/controller/controller.ts";
import { equalJson } from "../../kit/equal-json.ts";
import type { Log } from "../../kit/log.ts";
import type { EnvironmentStatusWriter } from "../../ports/environments.ts";
import type { Repositories } from "../../ports/repositories.ts";
import { type PullRequestHost, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";

const STORE_AGAIN_MS = 5_000;

/** The settings and ports of the feedback to hosts of pull requests. */
export interface PullRequestFeedbackDependencies {
  readonly settings: Settings;
  readonly log: Log;
  /** The environment from this process's cache, by name. */
  readonly environment: (name: string) => EphemeralEnvironment | undefined;
  readonly statusWriter: Pick<EnvironmentStatusWriter, "writeStatus">;
  readonly repositories: Pick<Repositories, "find">;
  readonly pullRequestHost: PullRequestHost;
}

/**
 * Reports an environment to the host of its pull request or pipeline: each state once, because reports are stored in
 * the environment's status. The teardown reports the end, see `conclude.ts`.
 */
export function createFeedbackReconciler(context: PullRequestFeedbackDependencies): Reconcile {
  /** Reports that could not be stored yet, by the environment's name. */
  const unstored = new Map<string, { readonly uid: string; readonly feedback: FeedbackStatus }>();
  const host = context.pullRequestHost;

  const lasting = (name: string) => {
    const found = context.environment(name);
    return found?.metadata.deletionTimestamp === undefined ? found : undefined;
  };
  const former = ({ metadata: { name, uid }, status }: EphemeralEnvironment) => {
    const kept = unstored.get(name);
    return (kept?.uid === uid ? kept.feedback : status?.feedback) ?? {};
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
    const found = lasting(name);
    if (found === undefined) unstored.delete(name);
    const subject = found && subjectOf(found, context);
    if (found === undefined || subject === undefined) return;
    const known = former(found);
    const environment = { ...found, status: { ...found.status, feedback: known } };
    const desired = desiredReports(environment, subject, context.settings.publicUrl);
    const isLasting = () => lasting(name)?.metadata.uid === found.metadata.uid;
    const { feedback, error } = await reportChanges(known, { host, subject, desired, signal, isLasting });
    const notStored = await store(found, feedback).catch((failure: unknown) => {
      context.log.warn("what the host was told is not stored yet", { environment: name, error: failure });
      return failure;
    });
    return error === undefined ? afterStoring(notStored) : afterFailure(error);
  };
}

/** A host may state the retry time; otherwise the controller backs off. */
function afterFailure(error: unknown): ReconcileResult {
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

/** Stored reports, and the first error. */
interface ReportingResult {
  readonly feedback: FeedbackStatus;
  readonly error?: unknown;
}

interface Reporting {
  readonly host: PullRequestHost;
  readonly subject: ReportSubject;
  readonly desired: DesiredReports;
  readonly signal: AbortSignal;
  /** False once the environment is gone: its end must be the last report. */
  readonly isLasting: () => boolean;
}

type Reporter = (former: FeedbackStatus, reporting: Reporting) => Promise<Partial<FeedbackStatus>>;

/** The status first: merges wait for it. All are independent. */
const REPORTERS: readonly Reporter[] = [reportStatus, reportDeployment, reportComment];

/** Reports changes to the host. */
async function reportChanges(former: FeedbackStatus, reporting: Reporting): Promise<ReportingResult> {
  const { problem: _, ...known } = former;
  let feedback: FeedbackStatus = known;
  const errors: unknown[] = [];
  for (const reporter of REPORTERS) {
    reporting.signal.throwIfAborted();
    if (!reporting.isLasting()) break;
    try {
      feedback = { ...feedback, ...(await reporter(known, reporting)) };
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 0) return { feedback };
  const [error] = errors;
  return { feedback: { ...feedback, problem: clipped(error instanceof Error ? error.message : String(error)) }, error };
}

async function reportStatus({ status }: FeedbackStatus, { host, subject, desired, signal }: Reporting) {
  if (desired.status === undefined) return {};
  const lastReportedHash = hashOf(desired.status);
  if (lastReportedHash === status?.lastReportedHash) return {};
  await host.report(subject.repository, desired.status, signal);
  const { commit, state } = desired.status;
  return { status: { commit, state, lastReportedHash } };
}

async function reportDeployment({ deployment }: FeedbackStatus, { host, subject, desired, signal }: Reporting) {
  if (desired.deployment === undefined) return {};
  const lastReportedHash = hashOf(desired.deployment);
  if (lastReportedHash === deployment?.lastReportedHash) return {};
  await host.deploy(subject.repository, desired.deployment, signal);
  return { deployment: { lastReportedHash } };
}

async function reportComment({ comment }: FeedbackStatus, { host, subject, desired, signal }: Reporting) {
  if (desired.comment === undefined) return {};
  const { id: _, mayCreate: __, ...text } = desired.comment;
  const lastReportedHash = hashOf(text);
  if (lastReportedHash === comment?.lastReportedHash) return {};
  const id = await host.comment(subject.repository, desired.comment, signal);
  return id === undefined ? {} : { comment: { id, lastReportedHash } };
}
