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
/** Environments that are looked through for one's own, newest first. */
const LOOKED_THROUGH = 1_000;

interface Flags extends OutputFlags {
  readonly status?: EnvironmentStatus | undefined;
  readonly sleep?: SleepState | undefined;
  readonly search?: string | undefined;
  readonly mine: boolean;
  readonly limit: number;
}

async function run(this: Context, flags: Flags): Promise<void> {
  const isShown = flags.mine ? await isOwn(this) : () => true;
  const { items, isAll } = await listed(this, flags, isShown);
  await print(this, { data: items, items, columns: environmentColumns, name: ({ name }) => name }, flags);
  if (!isAll) this.say(`There may be more than these ${items.length}: ${flags.mine ? MINE_ONLY : LIMITED}.`);
  if (items.length === 0 && flags.output === "table") this.say("There are no such environments.");
}

const LIMITED = "--limit says how many are shown, newest first";
const MINE_ONLY = `--limit says how many are shown, of the newest ${LOOKED_THROUGH} of all`;

type IsShown = (environment: ListedEnvironmentReport) => boolean;

async function listed(context: Context, flags: Flags, isShown: IsShown) {
  const { limit, mine } = flags;
  // New ones move others to the next page meanwhile.
  const found = new Map<string, ListedEnvironmentReport>();
  let isEnd = false;
  for await (const page of pagesOf(context, flags, mine ? LOOKED_THROUGH : limit)) {
    for (const one of page.environments.filter(isShown)) found.set(one.id, one);
    isEnd = page.isEnd;
    if (found.size >= limit) break;
  }
  return { items: [...found.values()].slice(0, limit), isAll: isEnd && found.size <= limit };
}

/** Pages of the list, newest first, of so many at most. */
async function* pagesOf(context: Context, { status, sleep, search }: Flags, most: number) {
  const client = context.client();
  for (let offset = 0; offset < most; ) {
    const size = Math.min(PAGE, most - offset);
    const query = { limit: size, offset, ...given({ status, sleep, search: search || undefined }) };
    const { environments, total } = await client.call("GET /api/v2/environments", { query });
    offset += environments.length;
    const isEnd = environments.length === 0 || offset >= total;
    yield { environments, isEnd };
    if (isEnd) return;
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
