import type { SleepRequest } from "../../sdk/index.ts";
import { misuse } from "../failure.ts";
import { optionalText } from "../parameters.ts";

/** Flags of an environment's schedule. */
export interface SleepFlags {
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
  timeZone: optionalText("Time zone of --awake, such as Europe/Berlin (default: this machine's)", "zone"),
} as const;

/** Wish of the flags, if any. @throws Failure (misuse) for a time zone alone, and for `always` beside hours */
export function sleepRequest({ awake, timeZone }: SleepFlags): SleepRequest | undefined {
  if (awake === undefined || awake.length === 0) {
    if (timeZone !== undefined) throw misuse("--time-zone is that of --awake, which is missing");
    return undefined;
  }
  if (awake.includes(ALWAYS)) {
    if (awake.length > 1 || timeZone !== undefined) throw misuse(`--awake=${ALWAYS} stands alone`);
    return {};
  }
  const zone = timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { schedule: { time_zone: zone, awake: [...awake] } };
}
