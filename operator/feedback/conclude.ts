import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { PullRequestHost } from "../ports/webhooks/pull-request-host.ts";
import { goneText, markerOf } from "./comment-text.ts";
import { lastReport } from "./report.ts";
import { type Subject, type SubjectContext, subjectOf } from "./subject.ts";
import { contextOf } from "./wanted.ts";

export interface ConcludeContext extends SubjectContext {
  readonly pullRequestHost: PullRequestHost;
}

/**
 * Tells the host that an environment is gone: the status says so, the comment is edited, the deployments go. Idempotent.
 * @throws PullRequestHostFailed
 */
export async function conclude(
  environment: EphemeralEnvironment,
  context: ConcludeContext,
  signal: AbortSignal,
): Promise<void> {
  const subject = subjectOf(environment, context);
  if (subject === undefined) return;
  const host = context.pullRequestHost;
  await reportEnd(environment, { subject, host, signal });
  await endComment(environment, { subject, host, signal });
  const isDeployed = subject.wants.deployment || environment.status?.feedback?.deployment !== undefined;
  if (isDeployed && subject.number !== undefined) {
    await host.retire(subject.repository, environment.metadata.name, signal);
  }
}

interface Ending {
  readonly subject: Subject;
  readonly host: PullRequestHost;
  readonly signal: AbortSignal;
}

/** On the commit that was reported last; a commit without a report gets none. */
async function reportEnd({ status }: EphemeralEnvironment, { subject, host, signal }: Ending): Promise<void> {
  const told = status?.feedback?.status;
  if (told === undefined) return;
  const report = { ...lastReport(told.state), commit: told.commit, context: contextOf(subject) };
  await host.report(subject.repository, report, signal);
}

/** A comment whose id was not stored any more is found by its marker. */
async function endComment(environment: EphemeralEnvironment, { subject, host, signal }: Ending): Promise<void> {
  const { metadata, status } = environment;
  const { number, wants } = subject;
  const id = status?.feedback?.comment?.id;
  if (number === undefined || (wants.comment === "never" && id === undefined)) return;
  const known = id === undefined ? {} : { id };
  const text = goneText(metadata.name);
  await host.comment(
    subject.repository,
    { number, marker: markerOf(metadata.name), text, mayCreate: false, ...known },
    signal,
  );
}
