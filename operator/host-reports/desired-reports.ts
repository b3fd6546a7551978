import { digestOf } from "../../crds/digest.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { CommitReport, DeploymentReport, StickyComment } from "../ports/webhooks/pull-request-host.ts";
import { commentText, markerOf } from "./comment-text.ts";
import { type Report, reportOf } from "./report.ts";
import type { ReportSubject } from "./subject.ts";

/** Desired reports. Those that the Repository does not want, or that lack their pull request, are absent. */
export interface DesiredReports {
  readonly status?: CommitReport;
  readonly comment?: StickyComment & { readonly number: number };
  readonly deployment?: DeploymentReport;
}

/** Name for a required check, the same for all pull requests of a Repository. */
export const contextOf = ({ name }: Pick<ReportSubject, "name">): string => `ephemeral-environment/${name}`;

/** Desired reports of an environment. Pure: equal states give equal texts. */
export function desiredReports(
  environment: EphemeralEnvironment,
  subject: ReportSubject,
  publicUrl: string | undefined,
): DesiredReports {
  const { commit, number, wants } = subject;
  if (commit === undefined) return {};
  const report = reportOf(environment);
  const fields = fieldsOf(report, commit);
  const { name } = environment.metadata;
  return {
    ...(wants.status ? { status: { ...fields, context: contextOf(subject) } } : {}),
    ...(wants.deployment && number !== undefined ? { deployment: { ...fields, environment: name } } : {}),
    ...commentOf(environment, { subject, report, publicUrl }),
  };
}

function commentOf(
  environment: EphemeralEnvironment,
  about: { subject: ReportSubject; report: Report; publicUrl: string | undefined },
): Pick<DesiredReports, "comment"> {
  const { number, wants } = about.subject;
  if (number === undefined || wants.comment === "never") return {};
  const id = environment.status?.feedback?.comment?.id;
  // With on_failure, the comment on a failure is kept up to date.
  const mayCreate = wants.comment === "always" || about.report.state === "failure";
  if (!mayCreate && id === undefined) return {};
  const marker = markerOf(environment.metadata.name);
  const text = commentText(environment, about);
  return { comment: { number, marker, text, mayCreate, ...(id === undefined ? {} : { id }) } };
}

const fieldsOf = ({ state, description, url }: Report, commit: string) => ({
  commit,
  state,
  description,
  ...(url === undefined ? {} : { url }),
});

/** Hash of a report. */
export const hashOf = (fields: object): string => digestOf(fields);
