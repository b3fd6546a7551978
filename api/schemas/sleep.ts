import { type Static, Type } from "typebox";
import type { Violation } from "../../crds/errors.ts";
import { present } from "../../crds/present.ts";
import { closed, literals } from "../../crds/schema.ts";
import {
  AWAKE_WINDOW_PATTERN,
  IDLE_MINUTES,
  MINIMUM_REQUESTS,
  SLEEP_CAUSES,
  SLEEP_STATES,
  type SleepStatus,
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
  {
    schedule: Type.Optional(SleepSchedule),
    after_idle_minutes: Type.Optional(
      Type.Integer({
        ...IDLE_MINUTES,
        description:
          "It sleeps after so long without activity: requests, updates, and people who read its logs. While requests are not known to the platform, nothing is idle.",
      }),
    ),
    minimum_requests: Type.Optional(
      Type.Integer({
        ...MINIMUM_REQUESTS,
        description:
          "The requests within five minutes that count as activity, 1 when left out: more than a monitor sends, which would keep it awake. Only beside `after_idle_minutes`.",
      }),
    ),
  },
  titled(
    "SleepRequest",
    { schedule: { time_zone: "Europe/Berlin", awake: ["Mon-Fri 08:00-19:00"] }, after_idle_minutes: 60 },
    {
      description:
        "Outside the hours of the schedule, and when it was idle, the environment is scaled to zero; secrets and data stay. An empty object: it never sleeps. When the field is left out, the default counts: that of the config set, of the backend's repository, or of the platform.",
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
      cause: orNull(
        literals(SLEEP_CAUSES),
        "Cause of the state; person: one woke it; request: one to a host of it did; null: it has been awake since its creation, without hours.",
      ),
      next_at: orNull(Instant, "Time of the next change, if it is known; activity moves it."),
      schedule: orNull(SleepSchedule, "Its hours, if it has any."),
      after_idle_minutes: orNull(Type.Integer(), "null: idleness does not let it sleep."),
      minimum_requests: orNull(
        Type.Integer(),
        "The requests within five minutes that count as activity, if they are said.",
      ),
      last_activity_at: orNull(Instant, "Last known activity, up to five minutes late, where idleness lets it sleep."),
    },
    { title: "EnvironmentSleep" },
  ),
  "Sleep by a schedule or by idleness; null: it never sleeps, or is suspended.",
);

/** Wish of the spec; empty for an environment that never sleeps. */
export function sleepWishOf({ schedule, after_idle_minutes, minimum_requests }: SleepRequest): SleepWish {
  return present({
    schedule: schedule && { timeZone: schedule.time_zone, awake: schedule.awake },
    afterIdleMinutes: after_idle_minutes,
    minimumRequests: minimum_requests,
  });
}

/** Wish in REST's form. */
export function toSleepRequest({ schedule, afterIdleMinutes, minimumRequests }: SleepWish): SleepRequest {
  return present({
    schedule: schedule && toSchedule(schedule),
    after_idle_minutes: afterIdleMinutes,
    minimum_requests: minimumRequests,
  });
}

/** State of sleep in REST's form. */
export function toSleepReport(sleep: SleepStatus | undefined): Static<typeof SleepReport> {
  if (sleep === undefined) return null;
  const {
    state,
    since,
    cause = null,
    schedule,
    nextAt,
    afterIdleMinutes = null,
    minimumRequests = null,
    lastActivityAt,
  } = sleep;
  const instant = (at: string) => new Date(at).toISOString();
  const instantOrNull = (at: string | undefined) => (at === undefined ? null : instant(at));
  return {
    state,
    since: instant(since),
    cause,
    next_at: instantOrNull(nextAt),
    schedule: schedule === undefined ? null : toSchedule(schedule),
    after_idle_minutes: afterIdleMinutes,
    minimum_requests: minimumRequests,
    last_activity_at: instantOrNull(lastActivityAt),
  };
}

function toSchedule({ timeZone, awake }: NonNullable<SleepWish["schedule"]>) {
  return { time_zone: timeZone, awake };
}

/** Time zones that this process does not know, and a number of requests without idleness. */
export function sleepViolations(sleep: SleepRequest = {}): readonly Violation[] {
  const { schedule, after_idle_minutes: minutes, minimum_requests: requests } = sleep;
  const isUnknown = schedule !== undefined && !isTimeZone(schedule.time_zone);
  const isAlone = requests !== undefined && minutes === undefined;
  return [
    ...(isUnknown ? [violation("schedule.time_zone", "must be an IANA time zone, such as Europe/Berlin")] : []),
    ...(isAlone ? [violation("minimum_requests", "counts only beside after_idle_minutes")] : []),
  ];
}

const violation = (field: string, message: string): Violation => ({ field: `sleep.${field}`, message });
