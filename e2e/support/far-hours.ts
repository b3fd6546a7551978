const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** A wish for sleep whose hours are one minute, days away: the environment falls asleep at once. */
export const FAR_HOURS = {
  schedule: { time_zone: "Etc/UTC", awake: [`${DAYS[(new Date().getUTCDay() + 3) % 7]} 03:00-03:01`] },
};
