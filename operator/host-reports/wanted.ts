import { digestOf } from "../../crds/digest.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { CommitReport, DeploymentReport, StickyComment } from "../ports/webhooks/pull-request-host.ts";
import { commentText, markerOf } from "./comment-text.ts";
import { type Report, reportOf } from "./report.ts";
import type { Subject } from "./subject.ts";

/** What the host should know. What the Repository does not want, or a pull request is needed for, is absent. */
export interface Wanted {
  readonly status?: CommitReport;
  readonly comment?: StickyComment & { readonly number: number };
  readonly deployment?: DeploymentReport;
}

/** A required check names it, so it is the same for all pull requests of a Repository. */
export const contextOf = ({ name }: Pick<Subject, "name">): string => `ephemeral-environment/${name}`;

/** What the host should know about an environment. Pure, so equal states give equal texts. */
export function wantedOf(environment: EphemeralEnvironment, subject: Subject, publicUrl: string | undefined): Wanted {
  const { commit, number, wants } = subject;
  if (commit === undefined) return {};
  const report = reportOf(environment);
  const told = toldOf(report, commit);
  const { name } = environment.metadata;
  return {
    ...(wants.status ? { status: { ...told, context: contextOf(subject) } } : {}),
    ...(wants.deployment && number !== undefined ? { deployment: { ...told, environment: name } } : {}),
    ...commentOf(environment, { subject, report, publicUrl }),
  };
}

function commentOf(
  environment: EphemeralEnvironment,
  about: { subject: Subject; report: Report; publicUrl: string | undefined },
): Pick<Wanted, "comment"> {
  const { number, wants } = about.subject;
  if (number === undefined || wants.comment === "never") return {};
  const id = environment.status?.feedback?.comment?.id;
  // With on_failure, the comment on a failure follows what comes after it.
  const mayCreate = wants.comment === "always" || about.report.state === "failure";
  if (!mayCreate && id === undefined) return {};
  const marker = markerOf(environment.metadata.name);
  const text = commentText(environment, about);
  return { comment: { number, marker, text, mayCreate, ...(id === undefined ? {} : { id }) } };
}

const toldOf = ({ state, description, url }: Report, commit: string) => ({
  commit,
  state,
  description,
  ...(url === undefined ? {} : { url }),
});

/** A hash of what is told. */
export const hashOf = (told: object): string => digestOf(told);
