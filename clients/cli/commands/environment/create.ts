import { buildCommand } from "@stricli/core";
import { type CreateEnvironmentReportRequest, type EnvironmentReport, PlatformError } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { EXIT, Failure } from "../../failure.ts";
import { documentIn } from "../../input/document.ts";
import { hoursOf } from "../../input/duration.ts";
import { seedFlags } from "../../input/seed.ts";
import { sleepFlags } from "../../input/sleep.ts";
import { isData, type OutputFlags, print } from "../../output/print.ts";
import { documented, environmentName, optionalText, outputAliases, outputFlags, timeout } from "../../parameters.ts";
import { type CreationFlags, creationRequest, keyOf } from "./creation-request.ts";
import { shownEnvironment, urlOf } from "./environment-columns.ts";
import { environmentOf } from "./environment-of.ts";
import { waitFor } from "./environment-wait.ts";

interface Flags extends CreationFlags, OutputFlags {
  readonly file?: string | undefined;
  readonly wait: boolean;
  readonly timeout: number;
  readonly ifExists: "fail" | "use";
}

async function run(this: Context, flags: Flags, name?: string): Promise<void> {
  const file = flags.file === undefined ? {} : await documentIn(flags.file, this.process.stdin);
  const request = creationRequest(name, file, flags);
  const made = await makeOrUse(this, request, flags);
  if (!flags.wait) return show(this, made, flags);
  try {
    const ready = await waitFor(this, made.id, { goal: "ready", timeoutSeconds: flags.timeout });
    await show(this, ready ?? made, flags);
  } catch (error) {
    // A pipeline may need the details.
    const isFailed = error instanceof Failure && error.exitCode === EXIT.environmentFailed;
    if (isFailed && isData(flags.output)) await show(this, await environmentOf(this, made.id), flags);
    throw error;
  }
}

async function makeOrUse(
  context: Context,
  request: CreateEnvironmentReportRequest,
  flags: Flags,
): Promise<EnvironmentReport> {
  try {
    const made = await make(context, request);
    if (made.status !== "terminating") return made;
    await untilGone(context, made, flags);
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== "ENV_NAME_EXISTS") throw error;
    const found = await existing(context, request, error);
    if (found.status !== "terminating") return usable(found, request, flags);
    await untilGone(context, found, flags);
  }
  return make(context, request);
}

async function make(context: Context, request: CreateEnvironmentReportRequest): Promise<EnvironmentReport> {
  const options = { body: request, idempotencyKey: await keyOf(request) };
  const { environment } = await context.client().call("POST /api/v2/environments", options);
  return environmentOf(context, environment.id);
}

/** Environment of that name. @throws the refusal where the caller may not see it */
function existing(context: Context, { environment_name }: CreateEnvironmentReportRequest, refusal: PlatformError) {
  return environmentOf(context, environment_name).catch((error: unknown) => {
    throw error instanceof PlatformError && error.status === 404 ? refusal : error;
  });
}

function usable(
  found: EnvironmentReport,
  request: CreateEnvironmentReportRequest,
  { ifExists }: Flags,
): EnvironmentReport {
  const { name, repositories } = found;
  if (ifExists === "fail") {
    throw new Failure(EXIT.refused, `${name} exists already; --if-exists=use takes it, eenv delete ${name} ends it`);
  }
  const { repo, branch } = repositories.backend;
  if (repo === request.backend_repo && branch === request.backend_branch) return found;
  throw new Failure(EXIT.refused, `${name} exists, but from ${repo}@${branch}: it can't be used instead`);
}

async function untilGone(context: Context, { id, name }: EnvironmentReport, flags: Flags): Promise<void> {
  if (!flags.wait)
    throw new Failure(EXIT.refused, `the former ${name} is still being deleted; try again when it is gone`);
  context.say(`The former ${name} is still being deleted; that is waited for.`);
  const silent = () => undefined;
  await waitFor(context, id, { goal: "deleted", timeoutSeconds: flags.timeout, show: silent });
}

/** Shows people only the URL, which other programs take: `open $(eenv create …)`. */
async function show(context: Context, environment: EnvironmentReport, flags: Flags): Promise<void> {
  if (flags.output === "table") context.process.stdout.write(`${urlOf(environment)}\n`);
  else await print(context, shownEnvironment(environment), flags);
}

/** `eenv create`. */
export const create = buildCommand<Flags, [name?: string], Context>({
  func: run,
  parameters: {
    positional: {
      kind: "tuple",
      parameters: [{ ...environmentName, optional: true, brief: "Name of the environment" }],
    },
    flags: {
      repo: optionalText("Id of the backend's repository", "id"),
      branch: optionalText("Branch of the backend", "branch"),
      commit: optionalText("Commit of the backend (default: the head of the branch)", "sha"),
      frontend: optionalText("Id of the frontend's repository", "id"),
      frontendBranch: optionalText("Branch of the frontend (default: the repository's)", "branch"),
      ttl: {
        kind: "parsed",
        parse: hoursOf,
        optional: true,
        placeholder: "duration",
        brief: "Its lifetime, such as 8h or 2d",
      },
      configSet: optionalText("Config set", "name"),
      database: {
        kind: "boolean",
        brief: "With a PostgreSQL of its own (default: as the config set says)",
        optional: true,
      },
      ...seedFlags,
      ...sleepFlags,
      sharedApiKeys: { kind: "boolean", brief: "With the shared API keys of the config set", optional: true },
      set: {
        kind: "parsed",
        parse: String,
        variadic: true,
        optional: true,
        placeholder: "path=value",
        brief: "Override a value, such as backend.env.LOG_LEVEL=debug; not for secrets: others see arguments",
      },
      file: optionalText("File (YAML or JSON) with the fields of the request, - for stdin; flags win", "file"),
      wait: { kind: "boolean", brief: "Wait until it is ready, and show the progress", default: true },
      timeout: timeout("15m"),
      ifExists: {
        kind: "enum",
        values: ["fail", "use"],
        default: "fail",
        brief: "use: accept an existing environment of the name, if it has the same repository and branch",
      },
      ...outputFlags,
    },
    aliases: { f: "file", ...outputAliases },
  },
  docs: documented(
    "Make an environment, wait until it is ready, and print its URL",
    [
      "create shop-pr-42 --repo shop-api --branch main --ttl 8h",
      "create shop-pr-42 --repo shop-api --branch main --if-exists=use --timeout 5m -o json",
      'create shop-pr-42 --repo shop-api --branch main --awake "Mon-Fri 08:00-19:00" --time-zone Europe/Berlin',
      "create shop-test --repo shop-api --branch main --set backend.env.LOG_LEVEL=debug --no-wait",
    ],
    "The same command again, within a day, takes what it made before: a pipeline that was killed can be run again.",
  ),
});
