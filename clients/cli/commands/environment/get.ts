import { buildCommand } from "@stricli/core";
import type { EnvironmentReport } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { followed } from "../../following.ts";
import { plainJson, plainLine } from "../../output/plain.ts";
import { type OutputFlags, print } from "../../output/print.ts";
import { stepLine } from "../../output/progress.ts";
import { tableOf } from "../../output/table.ts";
import { spanTo } from "../../output/times.ts";
import { documented, off, onlyName, outputAliases, outputFlags } from "../../parameters.ts";
import { shownEnvironment, stateOf } from "./environment-columns.ts";
import { environmentOf } from "./environment-of.ts";
import { workloadTable } from "./workload-table.ts";

interface Flags extends OutputFlags {
  readonly watch: boolean;
}

async function run(this: Context, flags: Flags, name: string): Promise<void> {
  const environment = await environmentOf(this, name);
  if (flags.watch) return watch(this, environment.id, flags);
  if (flags.output === "table") {
    const workloads = await workloadTable(this, environment.id);
    this.process.stdout.write(`${described(environment, this.process.stdout)}${workloads && `\n${workloads}`}`);
  } else await print(this, shownEnvironment(environment), flags);
}

/** Prints it at each change, until it is gone: a row, or a line of JSON. */
async function watch(context: Context, id: string, flags: Flags): Promise<void> {
  const options = { path: { environment_id: id }, signal: context.interrupted };
  let isFirst = true;
  for await (const { data } of followed(context, "GET /api/v2/environments/{environment_id}/stream", options)) {
    if (flags.output === "json") context.process.stdout.write(`${plainJson(data)}\n`);
    else await print(context, shownEnvironment(data), { ...flags, headers: flags.headers && isFirst });
    isFirst = false;
  }
}

function described(environment: EnvironmentReport, stream: NodeJS.WriteStream): string {
  const { repositories, urls, cost, configuration, creator } = environment;
  const sources = Object.entries(repositories).map(
    ([part, { repo, branch, commit }]) => [part, `${repo}@${branch} ${commit}`.trim()] as const,
  );
  const facts: (readonly [string, string])[] = [
    ["name", environment.name],
    ["id", environment.id],
    ["status", stateOf(environment)],
    ...addressesOf(urls),
    ...sources,
    ["config set", configuration.config_set],
    ["database", configuration.database_provisioned ? "yes" : "no"],
    ["copied from", environment.database_from ?? ""],
    ["creator", creator.email || creator.name],
    ["managed by", environment.managed_by ?? ""],
    ["expires", `${environment.expires_at} (${spanTo(environment.expires_at)}, ${environment.ttl_hours} h in all)`],
    ["cost", cost.actual === null ? "" : `${cost.actual} ${cost.currency} so far`],
  ];
  const known = facts.filter(([, value]) => value !== "");
  const columns = [
    { title: "", of: ([title]: readonly [string, string]) => title },
    { title: "", of: ([, value]: readonly [string, string]) => value },
  ];
  const steps = environment.conditions.map((step) => `${stepLine(step, stream)}\n`);
  return `${tableOf(known, columns, false)}\n${steps.join("") || `${plainLine("no step has begun")}\n`}`;
}

function addressesOf({ hosts = {}, ...ofComponents }: EnvironmentReport["urls"]): (readonly [string, string])[] {
  return Object.entries({ ...ofComponents, ...hosts }).map(([part, url]) => [`${part} url`, url]);
}

/** `eenv get`. */
export const get = buildCommand<Flags, [name: string], Context>({
  func: run,
  parameters: {
    positional: onlyName,
    flags: { watch: off("Print it again at each change, until it is gone"), ...outputFlags },
    aliases: { w: "watch", ...outputAliases },
  },
  docs: documented("Show an environment, how far each of its steps came, and its workloads", [
    "get shop-pr-42",
    "get shop-pr-42 -o json",
  ]),
});
