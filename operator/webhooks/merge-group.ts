import { hostedRepository } from "../../crds/repository/repository.ts";
import type { WebhookDelivery, WebhookDeliveryStatus } from "../../crds/webhooks/webhook-delivery.ts";
import { contextOf, wantsOf } from "../host-reports/desired-reports.ts";
import { SecretManagerUnavailable } from "../ports/secret-manager.ts";
import { type CommitStatusReporter, PullRequestHostFailed } from "../ports/webhooks/pull-request-host.ts";
import {
  type Decided,
  type Decision,
  type DecisionContext,
  deliveryStatus,
  nothing,
  type RepositoryEvent,
} from "./decision.ts";

/**
 * Reports a success for a merge group's commit, once: it has no environment, because its pull requests had theirs, but
 * a merge queue that requires our status would wait.
 */
export function decideMergeGroup(subject: RepositoryEvent, commit: string, context: DecisionContext): Decided {
  const { repository } = subject;
  if (!wantsOf(repository).status) return nothing("StatusDisabled", "its Repository wants no status of commits");
  const hosted = hostedRepository(repository, context.settings);
  if (hosted === undefined)
    return nothing("NoToken", "the settings have no token of its host, so no status is reported");
  if (isReported(commit, subject, context)) return nothing("Reported", "another delivery had its commit reported");
  const description = "No environment is built for merge groups";
  const report = { commit, state: "success", description, context: contextOf(repository.metadata.name) } as const;
  return { decision: { do: "report", repository: hosted, report, reason: "MergeGroup" }, trace: [] };
}

function isReported(commit: string, { repository, delivery }: RepositoryEvent, { deliveries }: DecisionContext) {
  return deliveries
    .ofCommit(commit)
    .some(
      ({ metadata, spec, status }) =>
        status?.phase === "acted" &&
        metadata.name !== delivery &&
        spec.event.mergeGroup !== undefined &&
        spec.repositories?.includes(repository.metadata.name),
    );
}

/** The decision to report a commit. */
type ReportDecision = Extract<Decision, { readonly do: "report" }>;

export const isReport = (decision: Decision): decision is ReportDecision => decision.do === "report";

/** Reason of a delivery whose host refuses a status, or is away. */
export const HOST_UNTOLD = "HostUntold";

interface ReportContext {
  readonly pullRequestHost?: CommitStatusReporter;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reports commit statuses to their host. Repeatable: a report replaces the former one.
 * The controller of webhook deliveries retries a failed commit status.
 *
 * @returns the outcome: `pending` in the API, and while the host is away
 */
export async function reportCommits(
  reports: readonly ReportDecision[],
  { spec }: WebhookDelivery,
  { pullRequestHost, signal = new AbortController().signal }: ReportContext,
): Promise<WebhookDeliveryStatus> {
  const [{ reason, report }] = reports as [ReportDecision];
  if (pullRequestHost === undefined)
    return deliveryStatus("pending", reason, `it will be reported: ${report.description}`);
  try {
    for (const one of reports) await pullRequestHost.report(one.repository, one.report, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isOfHost(error)) throw error;
    // GitHub's merge queue drops a group by itself, by default an hour after its checks were requested:
    // https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
    return deliveryStatus("pending", HOST_UNTOLD, error.message, { waitsSince: spec.receivedAt });
  }
  return deliveryStatus("acted", reason, `reported to its host: ${report.description}`);
}

/** Messages of other errors may hold secrets. */
const isOfHost = (error: unknown): error is Error =>
  error instanceof PullRequestHostFailed || error instanceof SecretManagerUnavailable;
