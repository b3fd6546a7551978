import type { Settings } from "../../config/settings.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { isMadeByEvent } from "../../crds/environment/managed-by.ts";
import { COMPONENTS } from "../../crds/names.ts";
import { hostedRepository, type Repository } from "../../crds/repository/repository.ts";
import type { COMMENT_MODES } from "../../crds/repository/webhook-rules.schema.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { HostedRepository } from "../ports/webhooks/pull-request-host.ts";

/** ReportSubject of an environment's reports. */
export interface ReportSubject {
  readonly repository: HostedRepository;
  readonly name: string;
  /** Head commit; `undefined` while unknown. */
  readonly commit: string | undefined;
  /** Number of the pull request; `undefined` for pipelines. */
  readonly number: number | undefined;
  /** Reports that the Repository wants. */
  readonly wants: {
    readonly comment: (typeof COMMENT_MODES)[number];
    readonly status: boolean;
    readonly deployment: boolean;
    /** True when a pull request whose rules want no environment gets a success. */
    readonly successWithoutEnvironment: boolean;
  };
}

export interface SubjectContext {
  readonly repositories: Pick<Repositories, "find">;
  readonly settings: Pick<Settings, "hosts">;
}

/** ReportSubject of an environment; `undefined` without an event of a host, or without a token for it. */
export function subjectOf(
  environment: Pick<EphemeralEnvironment, "spec" | "status">,
  { repositories, settings }: SubjectContext,
): ReportSubject | undefined {
  const { kind, repository: name = "", number } = environment.spec.trigger ?? {};
  if (!isMadeByEvent(environment)) return undefined;
  const repository = repositories.find(name);
  const hosted = repository && hostedRepository(repository, settings);
  if (repository === undefined || hosted === undefined) return undefined;
  return {
    repository: hosted,
    name,
    commit: commitOf(environment, name),
    number: kind === "pull_request" ? number : undefined,
    wants: wantsOf(repository),
  };
}

/** The reports that a Repository wants on its host. */
export function wantsOf({ spec: { feedback = {} } }: Repository): ReportSubject["wants"] {
  const { comment = "always", status = true, deployment = true, statusWithoutEnvironment } = feedback;
  const successWithoutEnvironment = status && statusWithoutEnvironment === "success";
  return { comment, status, deployment, successWithoutEnvironment };
}

function commitOf({ spec, status }: Pick<EphemeralEnvironment, "spec" | "status">, repository: string) {
  const component = COMPONENTS.find((one) => spec[one]?.repository === repository);
  if (component === undefined) return undefined;
  const { commit = "" } = spec[component] ?? {};
  return commit === "" ? status?.sources?.[component]?.resolved?.commit : commit;
}
