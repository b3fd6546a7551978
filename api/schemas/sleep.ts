import { type Static, Type } from "typebox";
import type { Violation } from "../../crds/errors.ts";
import { closed, literals } from "../../crds/schema.ts";
import {
  AWAKE_WINDOW_PATTERN,
  SLEEP_STATES,
  type SleepWish,
  TIME_ZONE_PATTERN,
  WINDOWS_MAX,
} from "../../crds/sleep.schema.ts";
import { isTimeZone } from "../../crds/sleep-schedule.ts";
import { Instant, orNull, titled } from "./fields.ts";

const SleepSchedule = closed(
  {
    time_zone: Type.String({
      maxLength: 64,
      pattern: TIME_ZONE_PATTERN,
      "x-refusal": "must be an IANA time zone, such as Europe/Berlin",
      description: "An IANA name; its changes of the clock count.",
    }),
    awake: Type.Array(
      Type.String({
        maxLength: 64,
        pattern: AWAKE_WINDOW_PATTERN,
        "x-refusal": "must be days and hours, such as Mon-Fri 08:00-19:00",
      }),
      {
        minItems: 1,
        maxItems: WINDOWS_MAX,
        description:
          "The hours in which it is awake, such as `Mon-Fri 08:00-19:00` or `Sat,Sun 10:00-16:00`. Hours that end at or before their begin end on the next day.",
      },
    ),
  },
  titled("SleepSchedule", { time_zone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] }),
);

/** Wish for sleep in a request. */
export const SleepRequest = closed(
  { schedule: Type.Optional(SleepSchedule) },
  titled(
    "SleepRequest",
    { schedule: { time_zone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] } },
    {
      description:
        "Outside the hours of the schedule the environment is scaled to zero; secrets and data stay. Without a schedule it never sleeps. When the field is left out, the default counts: that of the config set, of the backend's repository, or of the platform.",
    },
  ),
);
export type SleepRequest = Static<typeof SleepRequest>;

/** Sleep of an environment, in version 2. */
export const SleepReport = orNull(
  closed(
    {
      state: literals(SLEEP_STATES, { description: "waking: it does not answer yet." }),
      since: Instant,
      cause: literals(["schedule", "person"], { description: "person: one woke it outside its hours." }),
      next_at: orNull(Instant, "Time of the next change, if it is known."),
      schedule: SleepSchedule,
    },
    { title: "EnvironmentSleep" },
  ),
  "Sleep by a schedule; null: it has none, or is suspended.",
);

/** Wish of the spec; empty for an environment that never sleeps. */
export function sleepWishOf({ schedule }: SleepRequest): SleepWish {
  return schedule === undefined ? {} : { schedule: { timeZone: schedule.time_zone, awake: schedule.awake } };
}

/** Wish in REST's form. */
export function toSleepRequest({ schedule }: SleepWish): SleepRequest {
  return schedule === undefined ? {} : { schedule: toSchedule(schedule) };
}

/** Schedule in REST's form. */
export function toSchedule({ timeZone, awake }: NonNullable<SleepWish["schedule"]>) {
  return { time_zone: timeZone, awake };
}

/** Time zones that this process does not know. */
export function sleepViolations(sleep: SleepRequest | undefined): readonly Violation[] {
  const zone = sleep?.schedule?.time_zone;
  if (zone === undefined || isTimeZone(zone)) return [];
  return [{ field: "sleep.schedule.time_zone", message: "must be an IANA time zone, such as Europe/Berlin" }];
}
