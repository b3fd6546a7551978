import { clipped } from "../../../crds/conditions.ts";
import type { FeedbackStatus } from "../../../crds/environment/environment-status.schema.ts";
import { type DesiredReports, hashOf } from "../../host-reports/desired-reports.ts";
import type { ReportSubject } from "../../host-reports/subject.ts";
import type { PullRequestHost } from "../../ports/webhooks/pull-request-host.ts";

/** Stored reports, and the first error. */
export interface ReportingResult {
  readonly feedback: FeedbackStatus;
  readonly error?: unknown;
}

interface Reporting {
  readonly host: PullRequestHost;
  readonly subject: ReportSubject;
  readonly wanted: DesiredReports;
  readonly signal: AbortSignal;
  /** False once the environment is gone: its end must be the last report. */
  readonly isLasting: () => boolean;
}

type Reporter = (former: FeedbackStatus, reporting: Reporting) => Promise<Partial<FeedbackStatus>>;

/** The status first: merges wait for it. All are independent. */
const REPORTERS: readonly Reporter[] = [reportStatus, reportDeployment, reportComment];

/** Reports changes to the host. */
export async function reportChanges(former: FeedbackStatus, reporting: Reporting): Promise<ReportingResult> {
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

async function reportStatus({ status }: FeedbackStatus, { host, subject, wanted, signal }: Reporting) {
  if (wanted.status === undefined) return {};
  const lastReportedHash = hashOf(wanted.status);
  if (lastReportedHash === status?.lastReportedHash) return {};
  await host.report(subject.repository, wanted.status, signal);
  const { commit, state } = wanted.status;
  return { status: { commit, state, lastReportedHash } };
}

async function reportDeployment({ deployment }: FeedbackStatus, { host, subject, wanted, signal }: Reporting) {
  if (wanted.deployment === undefined) return {};
  const lastReportedHash = hashOf(wanted.deployment);
  if (lastReportedHash === deployment?.lastReportedHash) return {};
  await host.deploy(subject.repository, wanted.deployment, signal);
  return { deployment: { lastReportedHash } };
}

async function reportComment({ comment }: FeedbackStatus, { host, subject, wanted, signal }: Reporting) {
  if (wanted.comment === undefined) return {};
  const { id: _, mayCreate: __, ...text } = wanted.comment;
  const lastReportedHash = hashOf(text);
  if (lastReportedHash === comment?.lastReportedHash) return {};
  const id = await host.comment(subject.repository, wanted.comment, signal);
  return id === undefined ? {} : { comment: { id, lastReportedHash } };
}
