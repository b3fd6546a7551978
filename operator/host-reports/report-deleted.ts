import { appliedState } from "../../crds/environment/applied-state.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { EXCLUDED_BY_ANNOTATION } from "../../crds/group.ts";
import type { PullRequestHost, ReportedState } from "../ports/webhooks/pull-request-host.ts";
import {
  contextOf,
  exclusionReport,
  goneText,
  markerOf,
  type ReportDependencies,
  type ReportSubject,
  subjectOf,
} from "./desired-reports.ts";

export interface ReportDeletedContext extends ReportDependencies {
  readonly pullRequestHost: PullRequestHost;
}

/**
 * Reports to the host that an environment is gone: final status, edited comment, no deployments. Idempotent.
 * @throws PullRequestHostFailed
 */
export async function reportDeleted(
  environment: EphemeralEnvironment,
  context: ReportDeletedContext,
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
  readonly subject: ReportSubject;
  readonly host: PullRequestHost;
  readonly signal: AbortSignal;
}

/** Reports on the last reported commit; without a report only for one that a rule excludes. */
async function reportEnd(environment: EphemeralEnvironment, { subject, host, signal }: Ending): Promise<void> {
  const reported = environment.status?.feedback?.status;
  const rule = subject.wants.successWithoutEnvironment ? excludingRule(environment) : undefined;
  const commit = rule === undefined ? reported?.commit : (appliedState(environment)?.commit ?? subject.commit);
  const last = rule === undefined ? reported && finalReport(reported.state) : exclusionReport(rule);
  if (commit === undefined || last === undefined) return;
  await host.report(subject.repository, { ...last, commit, context: contextOf(subject.name) }, signal);
}

/** A pull request must not wait for an environment that is gone. */
const finalReport = (state: ReportedState) =>
  ({ state: state === "pending" ? "failure" : state, description: "The environment is gone" }) as const;

const excludingRule = ({ metadata }: EphemeralEnvironment) => metadata.annotations?.[EXCLUDED_BY_ANNOTATION];

/** A comment without a stored id is found by its marker. */
async function endComment(environment: EphemeralEnvironment, { subject, host, signal }: Ending): Promise<void> {
  const { metadata, status } = environment;
  const { number, wants } = subject;
  const id = status?.feedback?.comment?.id;
  if (number === undefined || (wants.comment === "never" && id === undefined)) return;
  const { name } = metadata;
  const comment = {
    number,
    marker: markerOf(name),
    text: goneText(name),
    mayCreate: false,
    ...(id !== undefined && { id }),
  };
  await host.comment(subject.repository, comment, signal);
}
