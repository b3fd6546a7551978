import { appliedState } from "../../crds/environment/applied-state.ts";
import { commitStatusKey } from "../../crds/environment/commit-status.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { EXCLUDED_BY_ANNOTATION } from "../../crds/group.ts";
import { present } from "../../crds/present.ts";
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

/**
 * Reports to the host that an environment is gone: final status, edited comment, no deployments. Idempotent.
 * @throws PullRequestHostFailed
 */
export async function reportDeleted(
  environment: EphemeralEnvironment,
  context: ReportDependencies & { readonly pullRequestHost: PullRequestHost },
  signal: AbortSignal,
): Promise<void> {
  const subject = subjectOf(environment, context);
  if (subject === undefined) return;
  const host = context.pullRequestHost;
  await reportEnd(environment, { subject, host, signal, reportersOf: context.reportersOf });
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

/**
 * Reports on the last reported commit, without a report only for one that a rule excludes; never where another
 * environment reports its status now.
 */
async function reportEnd(
  environment: EphemeralEnvironment,
  { subject, host, signal, reportersOf }: Ending & Pick<ReportDependencies, "reportersOf">,
): Promise<void> {
  const { metadata, status } = environment;
  const reported = status?.feedback?.status;
  const rule = subject.wants.successWithoutEnvironment ? metadata.annotations?.[EXCLUDED_BY_ANNOTATION] : undefined;
  const commit = rule === undefined ? reported?.commit : (appliedState(environment)?.commit ?? subject.commit);
  const last = rule === undefined ? reported && finalReport(reported.state) : exclusionReport(rule);
  if (commit === undefined || last === undefined) return;
  if (reportersOf(commitStatusKey(subject.name, commit)).length > 0) return;
  await host.report(subject.repository, { ...last, commit, context: contextOf(subject.name) }, signal);
}

/** A pull request must not wait for an environment that is gone. */
const finalReport = (state: ReportedState) =>
  ({ state: state === "pending" ? "failure" : state, description: "The environment is gone" }) as const;

/** A comment without a stored id is found by its marker. */
async function endComment(environment: EphemeralEnvironment, { subject, host, signal }: Ending): Promise<void> {
  const { number, wants } = subject;
  const id = environment.status?.feedback?.comment?.id;
  if (number === undefined || (wants.comment === "never" && id === undefined)) return;
  const { name } = environment.metadata;
  const comment = { number, marker: markerOf(name), text: goneText(name), mayCreate: false, ...present({ id }) };
  await host.comment(subject.repository, comment, signal);
}
