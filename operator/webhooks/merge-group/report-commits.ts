import { clipped } from "../../../crds/conditions.ts";
import { OUTCOME_MESSAGE_MAX_LENGTH } from "../../../crds/webhooks/webhook-delivery.schema.ts";
import type { WebhookDelivery, WebhookDeliveryStatus } from "../../../crds/webhooks/webhook-delivery.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";
import { type PullRequestHost, PullRequestHostFailed } from "../../ports/webhooks/pull-request-host.ts";
import type { Decision } from "../decision.ts";

/** The decision to report a commit. */
export type Report = Extract<Decision, { readonly do: "report" }>;

/** Whether the decision is carried out by a report. */
export const isReport = (decision: Decision): decision is Report => decision.do === "report";

interface ReportContext {
  readonly pullRequestHost?: Pick<PullRequestHost, "report">;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reports commits to their host, which may be done again at any time: a report replaces the former one.
 *
 * @returns the outcome: `pending` in the facade, and while the host is away
 */
export async function reportCommits(
  reports: readonly Report[],
  { spec }: WebhookDelivery,
  { pullRequestHost, signal = new AbortController().signal }: ReportContext,
): Promise<WebhookDeliveryStatus> {
  const [{ reason, report }] = reports as [Report];
  if (pullRequestHost === undefined) return said("pending", reason, `it will be reported: ${report.description}`);
  try {
    for (const one of reports) await pullRequestHost.report(one.repository, one.report, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isOfHost(error)) throw error;
    // GitHub's merge queue gives a group up by itself, an hour after its checks were requested, unless it is configured
    // otherwise: https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
    return { ...said("pending", "HostUntold", error.message), waitsSince: spec.receivedAt };
  }
  return said("acted", reason, `reported to its host: ${report.description}`);
}

/** Messages of other errors are not known to be free of secrets. */
const isOfHost = (error: unknown): error is Error =>
  error instanceof PullRequestHostFailed || error instanceof SecretManagerUnavailable;

const said = (phase: WebhookDeliveryStatus["phase"], reason: string, message: string): WebhookDeliveryStatus => ({
  phase,
  reason,
  message: clipped(message, OUTCOME_MESSAGE_MAX_LENGTH),
});
