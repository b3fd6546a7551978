import { appliedState } from "../../crds/environment/applied-state.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { UNWANTED_ANNOTATION } from "../../crds/group.ts";
import type { PullRequestHost } from "../ports/webhooks/pull-request-host.ts";
import { goneText, markerOf } from "./comment-text.ts";
import { lastReport, unwantedReport } from "./report.ts";
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

/** On the commit that was reported last; a commit without a report gets none, but for that of an unwanted environment. */
async function reportEnd(environment: EphemeralEnvironment, { subject, host, signal }: Ending): Promise<void> {
  const told = environment.status?.feedback?.status;
  const rule = subject.wants.successWithoutEnvironment ? unwantedBy(environment) : undefined;
  const commit = rule === undefined ? told?.commit : (appliedState(environment)?.commit ?? subject.commit);
  const last = rule === undefined ? told && lastReport(told.state) : unwantedReport(rule);
  if (commit === undefined || last === undefined) return;
  await host.report(subject.repository, { ...last, commit, context: contextOf(subject) }, signal);
}

const unwantedBy = ({ metadata }: EphemeralEnvironment) => metadata.annotations?.[UNWANTED_ANNOTATION];

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
