import { buildCommand } from "@stricli/core";
import type { EnvironmentStatus, ListedEnvironmentReport } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { given } from "../../input/given.ts";
import { type OutputFlags, print } from "../../output/print.ts";
import { count, documented, off, optionalText, outputAliases, outputFlags } from "../../parameters.ts";
import { environmentColumns } from "./environment-columns.ts";

const STATUSES = ["creating", "building", "updating", "ready", "failed", "terminating"] as const;
const SLEEP_STATES = ["awake", "asleep", "waking"] as const;
type SleepState = (typeof SLEEP_STATES)[number];
const PAGE = 100;

interface Flags extends OutputFlags {
  readonly status?: EnvironmentStatus | undefined;
  readonly sleep?: SleepState | undefined;
  readonly search?: string | undefined;
  readonly mine: boolean;
  readonly limit: number;
}

async function run(this: Context, flags: Flags): Promise<void> {
  const { found, total } = await pagesOf(this, flags);
  const items = flags.mine ? await ownOf(this, found) : found;
  await print(this, { data: items, items, columns: environmentColumns, name: ({ name }) => name }, flags);
  if (found.length < total) this.say(`${found.length} of ${total} were read; --limit says how many, newest first.`);
  if (items.length === 0 && flags.output === "table") this.say("There are no such environments.");
}

async function pagesOf(context: Context, { status, sleep, search, limit }: Flags) {
  const found: ListedEnvironmentReport[] = [];
  const client = context.client();
  while (true) {
    const size = Math.min(PAGE, limit - found.length);
    const query = { limit: size, offset: found.length, ...given({ status, sleep, search: search || undefined }) };
    const { environments, total } = await client.call("GET /api/v2/environments", { query });
    found.push(...environments);
    if (environments.length < size || found.length >= Math.min(limit, total)) return { found, total };
  }
}

async function ownOf(context: Context, environments: readonly ListedEnvironmentReport[]) {
  const { email } = await context.client().call("GET /api/v2/auth/user");
  return environments.filter(({ creator }) => creator.email === email);
}

/** `eenv list`. */
export const list = buildCommand<Flags, [], Context>({
  func: run,
  parameters: {
    flags: {
      status: { kind: "enum", values: STATUSES, brief: "Only in this state", optional: true },
      sleep: { kind: "enum", values: SLEEP_STATES, brief: "Only in this state of sleep", optional: true },
      search: optionalText("Only with this in the name"),
      mine: off("Only those that you made"),
      limit: { ...count("How many are read at most, newest first"), default: "100" },
      ...outputFlags,
    },
    aliases: outputAliases,
  },
  docs: documented("List environments", [
    "list --status ready -o wide",
    "list --sleep asleep",
    "ls --mine -o name",
    "list --search pr- --no-headers",
  ]),
});
