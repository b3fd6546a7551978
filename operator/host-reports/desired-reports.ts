import type { Settings } from "../../config/settings.ts";
import { clipped, findCondition } from "../../crds/conditions.ts";
import { commitStatusKey, commitStatusOwner, desiredCommitOf } from "../../crds/environment/commit-status.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { isMadeByEvent } from "../../crds/environment/managed-by.ts";
import { shownPhase } from "../../crds/environment/phase.ts";
import { isAsleep } from "../../crds/environment/sleep.ts";
import { COMPONENTS } from "../../crds/names.ts";
import { present } from "../../crds/present.ts";
import { hostedRepository, type Repository } from "../../crds/repository/repository.ts";
import type { COMMENT_MODES } from "../../crds/repository/webhook-rules.schema.ts";
import type { RepositoryFinder } from "../ports/repositories.ts";
import type {
  CommitReport,
  DeploymentReport,
  HostedRepository,
  ReportedState,
  StickyComment,
} from "../ports/webhooks/pull-request-host.ts";

/** Desired reports. Those that the Repository does not want, or that lack their pull request, are absent. */
export interface DesiredReports {
  readonly status?: CommitReport;
  readonly comment?: StickyComment;
  readonly deployment?: DeploymentReport;
}

/** Name for a required check, the same for all pull requests of a Repository. */
export const contextOf = (name: string): string => `ephemeral-environment/${name}`;

/** Desired commit status, deployment and comment of an environment. Pure: equal states give equal texts. */
export function desiredReports(
  environment: EphemeralEnvironment,
  subject: ReportSubject,
  publicUrl: string | undefined,
): DesiredReports {
  const { commit, number, wants, isStatusOwner } = subject;
  if (commit === undefined) return {};
  const report = reportOf(environment);
  const { reason: _, ...fields } = report;
  const { name } = environment.metadata;
  return {
    ...(wants.status && isStatusOwner && { status: { commit, ...fields, context: contextOf(subject.name) } }),
    ...(wants.deployment && number !== undefined && { deployment: { commit, ...fields, environment: name } }),
    ...commentOf(environment, { subject, report, publicUrl }),
  };
}

interface CommentParts {
  readonly subject: ReportSubject;
  readonly report: HostReport;
  readonly publicUrl: string | undefined;
}

function commentOf(environment: EphemeralEnvironment, parts: CommentParts): Pick<DesiredReports, "comment"> {
  const { number, wants } = parts.subject;
  if (number === undefined || wants.comment === "never") return {};
  const id = environment.status?.feedback?.comment?.id;
  // With on_failure, the comment on a failure is kept up to date.
  const mayCreate = wants.comment === "always" || parts.report.state === "failure";
  if (!mayCreate && id === undefined) return {};
  const marker = markerOf(environment.metadata.name);
  const text = commentText(environment, parts);
  return { comment: { number, marker, text, mayCreate, ...present({ id }) } };
}

/** Reported state of an environment. */
export interface HostReport {
  readonly state: ReportedState;
  /** One line. */
  readonly description: string;
  readonly reason?: string;
  readonly url?: string;
}

/** GitHub's limit, https://docs.github.com/en/rest/commits/statuses; descriptions of deployments have the same. */
const DESCRIPTION_MAX_LENGTH = 140;

/** Report about the desired commit: a status of a former spec does not count. */
function reportOf(environment: EphemeralEnvironment): HostReport {
  const { metadata, status } = environment;
  const phase = status?.observedGeneration === metadata.generation ? shownPhase(environment) : "updating";
  if (phase === "ready") {
    const description = `The environment is ${restOf(environment) ?? "ready"}`;
    return { state: "success", description, ...present({ url: status?.url }) };
  }
  if (phase !== "failed") return { state: "pending", description: "The environment is being prepared" };
  const { reason = "", message = "" } = findCondition(status?.conditions, "Ready") ?? {};
  const why = oneLine(`${reason}: ${message}`);
  return { state: "failure", description: clipped(`Failed: ${why}`, DESCRIPTION_MAX_LENGTH), reason: why };
}

function restOf(environment: EphemeralEnvironment): "suspended" | "asleep" | undefined {
  if (environment.spec.suspended) return "suspended";
  return isAsleep(environment) ? "asleep" : undefined;
}

/** Report for a commit without an environment by a rule. @param rule reason, for people */
export function exclusionReport(rule: string): HostReport {
  const description = clipped(`No environment is wanted: ${oneLine(rule)}`, DESCRIPTION_MAX_LENGTH);
  return { state: "success", description };
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, " ").trim();

/** Marker in the first line of an environment's comment; hosts hide it. */
export const markerOf = (environment: string): string => `<!-- ephemeral-environments: ${environment} -->`;

const TITLES = { pending: "is being prepared", success: "is ready", failure: "failed" } as const;

function commentText(environment: EphemeralEnvironment, { subject, report, publicUrl = "" }: CommentParts): string {
  const { name } = environment.metadata;
  const lines = [
    `**Environment ${code(name)} ${TITLES[report.state]}**`,
    ...(report.reason === undefined ? [] : [code(report.reason)]),
    [`- Commit: ${code(subject.commit ?? "")}`, ...serving(environment)].join("\n"),
    ...extension(environment, publicUrl),
    ...companion(environment, subject),
  ];
  return lines.join("\n\n");
}

/** Comment about a deleted environment. */
export const goneText = (environment: string): string => `**Environment ${code(environment)} is gone**`;

/** Addresses and expiry; an environment that never served does not answer. */
function serving({ status }: EphemeralEnvironment): string[] {
  if (status?.readyAt === undefined) return [];
  const { urls = {}, expiresAt } = status;
  const ofComponents = COMPONENTS.flatMap((component) => (urls[component] ? [[component, urls[component]]] : []));
  const addresses = [...ofComponents, ...Object.entries(urls.hosts ?? {})].map(([name, url]) => `- ${name}: ${url}`);
  return [...addresses, ...(expiresAt === undefined ? [] : [`- Expires: ${expiresAt}`])];
}

/** The TTL counts from the creation, see the REST contract. */
function extension({ metadata, status }: EphemeralEnvironment, publicUrl: string): string[] {
  if (status?.readyAt === undefined) return [];
  const address = `${publicUrl.replace(/\/+$/, "")}/api/environments/${metadata.name}`;
  return [
    `To keep it for longer: ${code(`PUT ${address}`)} with ${code('{"ttl_hours": …}')}, hours since its creation.`,
  ];
}

/** A pull request in each repository makes two environments. */
function companion({ spec }: EphemeralEnvironment, { name }: ReportSubject): string[] {
  const other = COMPONENTS.map((component) => spec[component]).find((one) => one && one.repository !== name);
  if (other === undefined) return [];
  const place = `${code(other.repository)} on ${code(other.branch)}`;
  return [`The other component is ${place}. A pull request there has an environment of its own.`];
}

/** Others' text must not be Markdown: it could mention people or load images. */
const code = (text: string) => `\`${text.replaceAll("`", "'")}\``;

/** Place and commit that an environment is reported at, with the reports that its Repository wants there. */
export interface ReportSubject {
  readonly repository: HostedRepository;
  readonly name: string;
  /** Head commit; `undefined` while unknown. */
  readonly commit: string | undefined;
  /** Number of the pull request; `undefined` for pipelines. */
  readonly number: number | undefined;
  /** False where another environment of the commit reports its status. */
  readonly isStatusOwner: boolean;
  readonly wants: {
    readonly comment: (typeof COMMENT_MODES)[number];
    readonly status: boolean;
    readonly deployment: boolean;
    /** True when a pull request whose rules want no environment gets a success. */
    readonly successWithoutEnvironment: boolean;
  };
}

export interface ReportDependencies {
  readonly repositories: RepositoryFinder;
  readonly settings: Settings;
  /** Environments that may report the status of this commit, see `commitStatusKey`. */
  readonly reportersOf: (key: string) => readonly EphemeralEnvironment[];
}

/** Subject of an environment's reports; `undefined` without an event of a host, or without a token for it. */
export function subjectOf(
  environment: EphemeralEnvironment,
  { repositories, settings, reportersOf }: ReportDependencies,
): ReportSubject | undefined {
  const { kind, repository: name = "", number } = environment.spec.trigger ?? {};
  if (!isMadeByEvent(environment)) return undefined;
  const repository = repositories.find(name);
  const hosted = repository && hostedRepository(repository, settings);
  if (repository === undefined || hosted === undefined) return undefined;
  const ofPullRequest = kind === "pull_request" ? number : undefined;
  const commit = desiredCommitOf(environment, name);
  const owner = commit === undefined ? undefined : commitStatusOwner(reportersOf(commitStatusKey(name, commit)));
  const isStatusOwner = owner === undefined || owner.metadata.uid === environment.metadata.uid;
  return { repository: hosted, name, commit, number: ofPullRequest, isStatusOwner, wants: wantsOf(repository) };
}

/** The reports that a Repository wants on its host. */
export function wantsOf({ spec: { feedback = {} } }: Repository): ReportSubject["wants"] {
  const { comment = "always", status = true, deployment = true, statusWithoutEnvironment } = feedback;
  const successWithoutEnvironment = status && statusWithoutEnvironment === "success";
  return { comment, status, deployment, successWithoutEnvironment };
}
