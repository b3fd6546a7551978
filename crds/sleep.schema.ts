import { type Static, Type } from "typebox";
import { literals, rules, text, timestamp } from "./schema.ts";

/** Windows of a schedule: enough for two a day. */
export const WINDOWS_MAX = 14;

const DAY = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const DAYS = `${DAY}(-${DAY})?`;
const TIME = "([01][0-9]|2[0-3]):[0-5][0-9]";

/** Shape of a window of `SleepSchedule.awake`. */
export const AWAKE_WINDOW_PATTERN = `^${DAYS}(,${DAYS}){0,6} ${TIME}-(${TIME}|24:00)$`;
export const TIME_ZONE_PATTERN = "^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$";

/** Hours in which an environment is awake, in the local time of a place. */
export const SleepSchedule = Type.Object(
  {
    timeZone: text(64, "An IANA name, such as Europe/Berlin; its changes of the clock count.", {
      pattern: TIME_ZONE_PATTERN,
    }),
    awake: Type.Array(Type.String({ maxLength: 64, pattern: AWAKE_WINDOW_PATTERN }), {
      minItems: 1,
      maxItems: WINDOWS_MAX,
      description:
        "Windows such as `Mon-Fri 08:00-19:00` or `Sat,Sun 10:00-16:00`. One that ends at or before its begin ends on the next day.",
    }),
  },
  {
    description: "The hours in which it is awake; outside them it sleeps.",
    ...rules({
      // The API server knows the names of time zones, and fails for others.
      rule: "timestamp('2026-01-01T00:00:00Z').getFullYear(self.timeZone) > 0",
      fieldPath: ".timeZone",
      message: "timeZone is an IANA name, such as Europe/Berlin",
    }),
  },
);
export type SleepSchedule = Static<typeof SleepSchedule>;

/** Wish for sleep; an empty one: never. */
export const SleepWish = Type.Object(
  { schedule: Type.Optional(SleepSchedule) },
  {
    description:
      "When it sleeps: scaled to zero, with its secrets and data. The first of the environment's, its config set's, its backend Repository's and the settings' counts; an empty one is never.",
  },
);
export type SleepWish = Static<typeof SleepWish>;

export const SLEEP_STATES = ["awake", "asleep", "waking"] as const;

/** State of the sleep of an environment that has a schedule. */
export const SleepStatus = Type.Object(
  {
    state: literals(SLEEP_STATES, {
      description: "waking: its schedule or a person wakes it, and it does not answer yet.",
    }),
    since: timestamp("Begin of the state."),
    cause: literals(["schedule", "person"], { description: "person: one woke it outside its hours." }),
    schedule: SleepSchedule,
    nextAt: Type.Optional(timestamp("Time of the next change; absent where it waits for something else.")),
    keptAwakeUntil: Type.Optional(
      timestamp("A person woke it outside its hours: it does not fall asleep before this, the end of the next ones."),
    ),
    lastHandledWakeAt: Type.Optional(text(128, "The last request to wake it, of the annotation `wake-at`.")),
  },
  { description: "Its sleep; absent without a schedule, and while `spec.suspended` is true." },
);
export type SleepStatus = Static<typeof SleepStatus>;
