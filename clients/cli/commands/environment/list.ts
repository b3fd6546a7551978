import { buildCommand } from "@stricli/core";
import type { EnvironmentStatus, ListedEnvironmentReport } from "../../../sdk/index.ts";
import type { Context } from "../../context.ts";
import { EXIT, Failure } from "../../failure.ts";
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
  const isShown = flags.mine ? await isOwn(this) : () => true;
  const { items, isAll } = await pagesOf(this, flags, isShown);
  await print(this, { data: items, items, columns: environmentColumns, name: ({ name }) => name }, flags);
  if (!isAll) this.say(`There may be more than these ${items.length}; --limit says how many are shown, newest first.`);
  if (items.length === 0 && flags.output === "table") this.say("There are no such environments.");
}

type IsShown = (environment: ListedEnvironmentReport) => boolean;

async function pagesOf(context: Context, { status, sleep, search, limit }: Flags, isShown: IsShown) {
  const found: ListedEnvironmentReport[] = [];
  const client = context.client();
  for (let offset = 0; ; ) {
    const query = { limit: PAGE, offset, ...given({ status, sleep, search: search || undefined }) };
    const { environments, total } = await client.call("GET /api/v2/environments", { query });
    offset += environments.length;
    found.push(...environments.filter(isShown));
    const isEnd = environments.length === 0 || offset >= total;
    if (isEnd || found.length >= limit) return { items: found.slice(0, limit), isAll: isEnd && found.length <= limit };
  }
}

/** @throws Failure for a user without a verified e-mail address, by which owners are known */
async function isOwn(context: Context): Promise<IsShown> {
  const { email } = await context.client().call("GET /api/v2/auth/user");
  if (email === "") throw new Failure(EXIT.refused, "you have no verified e-mail address, so yours are not known");
  return ({ creator }) => creator.email === email;
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
      limit: { ...count("How many are shown at most, newest first"), default: "100" },
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
