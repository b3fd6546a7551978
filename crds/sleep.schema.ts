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

/** Minutes without activity after which an environment may fall asleep. */
export const IDLE_MINUTES = { minimum: 10, maximum: 10_080 } as const;
/** Requests within five minutes that count as activity. */
export const MINIMUM_REQUESTS = { minimum: 1, maximum: 10_000 } as const;

/** Wish for sleep; an empty one: never. */
export const SleepWish = Type.Object(
  {
    schedule: Type.Optional(SleepSchedule),
    afterIdleMinutes: Type.Optional(
      Type.Integer({
        ...IDLE_MINUTES,
        description:
          "It sleeps after so long without activity: requests, updates, and people who read its logs. Needs the setting `activity`; while requests are not known, nothing is idle.",
      }),
    ),
    minimumRequests: Type.Optional(
      Type.Integer({
        ...MINIMUM_REQUESTS,
        description:
          "The requests within five minutes that count as activity: more than a monitor sends, which would keep it awake. One when left out.",
      }),
    ),
  },
  {
    description:
      "When it sleeps: scaled to zero, with its secrets and data. The first of the environment's, its config set's, its backend Repository's and the settings' counts; an empty one is never.",
    ...rules({
      rule: "!has(self.minimumRequests) || has(self.afterIdleMinutes)",
      fieldPath: ".minimumRequests",
      message: "minimumRequests counts only with afterIdleMinutes",
    }),
  },
);
export type SleepWish = Static<typeof SleepWish>;

export const SLEEP_STATES = ["awake", "asleep", "waking"] as const;
export const SLEEP_CAUSES = ["schedule", "idle", "person", "request"] as const;

/** State of the sleep of an environment that has a wish for it. */
export const SleepStatus = Type.Object(
  {
    state: literals(SLEEP_STATES, {
      description: "waking: its schedule, a person or a request wakes it, and it does not answer yet.",
    }),
    since: timestamp("Begin of the state."),
    cause: Type.Optional(
      literals(SLEEP_CAUSES, {
        description:
          "Cause of the state; person: one woke it; request: one to a host of it did, and within its hours that is the cause until it answers. Absent where it has been awake since its creation, without hours.",
      }),
    ),
    ...SleepWish.properties,
    lastActivityAt: Type.Optional(
      timestamp("Last known activity, up to five minutes late; absent without `afterIdleMinutes`."),
    ),
    nextAt: Type.Optional(timestamp("Time of the next change; absent where it waits for something else.")),
    keptAwakeUntil: Type.Optional(
      timestamp(
        "Its schedule does not let it sleep before. A person woke it outside its hours: the end of the next ones. A request did: an hour later; with `afterIdleMinutes`, so long after the last activity, at least an hour, which counts only while requests are not known.",
      ),
    ),
    lastHandledWakeAt: Type.Optional(text(128, "The last request to wake it, of the annotation `wake-at`.")),
  },
  {
    description:
      "Its sleep, with the wish in effect; absent without one, unless it still sleeps or wakes, and while `spec.suspended` is true.",
  },
);
export type SleepStatus = Static<typeof SleepStatus>;
