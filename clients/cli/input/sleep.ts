import type { SleepRequest } from "../../sdk/index.ts";
import { misuse } from "../failure.ts";
import { count, optionalText } from "../parameters.ts";
import { given } from "./given.ts";

/** Flags of an environment's sleep. */
export interface SleepFlags {
  readonly afterIdle?: number | undefined;
  readonly minimumRequests?: number | undefined;
  readonly awake?: readonly string[] | undefined;
  readonly timeZone?: string | undefined;
}

const ALWAYS = "always";

export const sleepFlags = {
  awake: {
    kind: "parsed",
    parse: String,
    variadic: true,
    optional: true,
    placeholder: "hours",
    brief: `Hours outside which it sleeps, such as "Mon-Fri 08:00-19:00"; ${ALWAYS}: it never sleeps`,
  },
  afterIdle: { ...count("Idle minutes after which it sleeps"), placeholder: "minutes", optional: true },
  minimumRequests: {
    ...count("Requests in five minutes that end --after-idle: more than a monitor sends (default: 1)"),
    optional: true,
  },
  timeZone: optionalText("Time zone of --awake, such as Europe/Berlin (default: this machine's)", "zone"),
} as const;

/** Wish of the flags, if any. @throws Failure (misuse) for flags without the one that they belong to */
export function sleepRequest(flags: SleepFlags): SleepRequest | undefined {
  const { awake = [], timeZone, afterIdle, minimumRequests } = flags;
  if (timeZone !== undefined && awake.length === 0) throw misuse("--time-zone is that of --awake, which is missing");
  if (minimumRequests !== undefined && afterIdle === undefined)
    throw misuse("--minimum-requests is that of --after-idle, which is missing");
  if (awake.length === 0 && afterIdle === undefined) return undefined;
  if (awake.includes(ALWAYS)) return never(flags);
  const schedule = awake.length === 0 ? undefined : { time_zone: timeZone ?? ownTimeZone(), awake: [...awake] };
  return given({ schedule, after_idle_minutes: afterIdle, minimum_requests: minimumRequests });
}

function never({ awake = [], timeZone, afterIdle }: SleepFlags): SleepRequest {
  const isAlone = awake.length === 1 && timeZone === undefined && afterIdle === undefined;
  if (!isAlone) throw misuse(`--awake=${ALWAYS} stands alone`);
  return {};
}

const ownTimeZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;
