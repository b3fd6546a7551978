import type { CreateEnvironmentReportRequest } from "../../../sdk/index.ts";
import { misuse } from "../../failure.ts";
import { withAssignments } from "../../input/assignments.ts";
import { given } from "../../input/given.ts";
import { type SeedFlags, seedRequest } from "../../input/seed.ts";
import { type SleepFlags, sleepRequest } from "../../input/sleep.ts";

/** Flags of `create`; they override the file. */
export interface CreationFlags extends SleepFlags, SeedFlags {
  readonly repo?: string | undefined;
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly frontend?: string | undefined;
  readonly frontendBranch?: string | undefined;
  readonly ttl?: number | undefined;
  readonly configSet?: string | undefined;
  readonly database?: boolean | undefined;
  readonly sharedApiKeys?: boolean | undefined;
  readonly set?: readonly string[] | undefined;
}

/** Request from a name, a file and flags. @throws Failure (misuse) when required parts are missing */
export function creationRequest(
  name: string | undefined,
  file: Readonly<Record<string, unknown>>,
  flags: CreationFlags,
): CreateEnvironmentReportRequest {
  const flagged = given({
    environment_name: name,
    backend_repo: flags.repo,
    backend_branch: flags.branch,
    backend_commit: flags.commit,
    frontend_repo: flags.frontend,
    frontend_branch: flags.frontendBranch,
    ttl: flags.ttl,
    config_set: flags.configSet,
    provision_database: flags.database,
    database_seed: seedRequest(flags),
    database_from: flags.databaseFrom,
    use_shared_api_keys: flags.sharedApiKeys,
    sleep: sleepRequest(flags),
  });
  const request = {
    ...file,
    ...flagged,
    ...overridesOf(file, flags.set ?? []),
  } as Partial<CreateEnvironmentReportRequest>;
  const { environment_name, backend_repo, backend_branch } = request;
  if (!environment_name || !backend_repo || !backend_branch) {
    throw misuse("an environment needs a NAME, --repo and --branch, or a file (-f) that has them");
  }
  return { ...request, environment_name, backend_repo, backend_branch };
}

function overridesOf(file: Readonly<Record<string, unknown>>, assignments: readonly string[]) {
  if (assignments.length === 0) return {};
  const former = (file.config_overrides ?? {}) as { readonly helm_values?: unknown };
  return { config_overrides: { ...former, helm_values: withAssignments(former.helm_values, assignments) } };
}

/**
 * Idempotency-Key of a request: a pipeline that was killed and runs again sends the same request, and gets the
 * environment that it created. The order of fields does not matter.
 */
export async function keyOf(request: CreateEnvironmentReportRequest): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(ordered(request)));
  return `eenv-${Buffer.from(await crypto.subtle.digest("SHA-256", text)).toString("hex")}`;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, ordered(field)] as const);
  return fields.sort(([one], [other]) => (one < other ? -1 : 1));
}
