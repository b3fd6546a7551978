import type { Settings } from "../../config/settings.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { isMadeByEvent } from "../../crds/environment/managed-by.ts";
import { COMPONENTS } from "../../crds/names.ts";
import { fullNameOf, type Repository } from "../../crds/repository/repository.ts";
import type { COMMENT_MODES } from "../../crds/repository/webhook-rules.schema.ts";
import type { Repositories } from "../ports/repositories.ts";
import type { HostedRepository } from "../ports/webhooks/pull-request-host.ts";

/** What the host is told about an environment is about this. */
export interface Subject {
  readonly repository: HostedRepository;
  /** The name of the Repository. */
  readonly name: string;
  /** The head commit; `undefined` while it is unknown. */
  readonly commit: string | undefined;
  /** The pull request; `undefined` for environments of pipelines. */
  readonly number: number | undefined;
  /** What of it the Repository wants. */
  readonly wants: {
    readonly comment: (typeof COMMENT_MODES)[number];
    readonly status: boolean;
    readonly deployment: boolean;
    /** Whether a pull request whose rules want no environment gets a success. */
    readonly successWithoutEnvironment: boolean;
  };
}

export interface SubjectContext {
  readonly repositories: Pick<Repositories, "find">;
  readonly settings: Pick<Settings, "hosts">;
}

/** `undefined` for an environment that no event of a host made, and where the settings have no token for the host. */
export function subjectOf(
  environment: Pick<EphemeralEnvironment, "spec" | "status">,
  { repositories, settings }: SubjectContext,
): Subject | undefined {
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

/** The repository on its host; `undefined` where the settings have no token for the host. */
export function hostedRepository(
  repository: Repository,
  { hosts }: Pick<Settings, "hosts">,
): HostedRepository | undefined {
  const host = hosts.find(({ id }) => id === repository.spec.host);
  return host?.token === undefined ? undefined : { host: host.id, fullName: fullNameOf(repository) };
}

/** What the host is told of it. */
export function wantsOf({ spec: { feedback = {} } }: Repository): Subject["wants"] {
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
