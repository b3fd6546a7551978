/** Values as words, the same on all screens. */

const SECOND = 1_000;
const SHORTEST = SECOND / 10;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Duration in its two largest units: "4.2 s", "3 min 20 s", "5 h 10 min", "2 d 4 h". */
export function durationText(ms: number): string {
  const whole = Math.max(0, ms);
  if (whole < SHORTEST) return "under 0.1 s";
  if (whole < MINUTE)
    return whole < 10 * SECOND ? `${(whole / SECOND).toFixed(1)} s` : `${Math.floor(whole / SECOND)} s`;
  if (whole < HOUR) return pair(whole, [MINUTE, "min"], [SECOND, "s"]);
  if (whole < DAY) return pair(whole, [HOUR, "h"], [MINUTE, "min"]);
  return pair(whole, [DAY, "d"], [HOUR, "h"]);
}

function pair(ms: number, [large, name]: [number, string], [small, smallName]: [number, string]): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${name}${rest === 0 ? "" : ` ${rest} ${smallName}`}`;
}

/** Remaining time: "in 5 h 10 min", or "now" at its end. */
export function untilText(instant: string, now: number): string {
  const left = Date.parse(instant) - now;
  return left <= 0 ? "now" : `in ${left < MINUTE ? "under 1 min" : durationText(left)}`;
}

/** Past time: "just now", "4 min ago", "3 d ago". */
export function agoText(instant: string, now: number): string {
  const past = now - Date.parse(instant);
  if (past < MINUTE) return "just now";
  const [unit, name] = past < HOUR ? [MINUTE, "min"] : past < DAY ? [HOUR, "h"] : [DAY, "d"];
  return `${Math.floor(past / Number(unit))} ${name} ago`;
}

/** Instant in the reader's own time zone and language. */
export function instantText(instant: string): string {
  return new Date(instant).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

/** Time of day in the reader's own time zone, to the millisecond: "14:03:00.250". */
export function clockText(instant: string): string {
  return CLOCK.format(new Date(instant));
}

/** Smallest sum that is written out. */
const LEAST_SUM = 0.01;

/** Money; "unknown" when the platform has no sum. */
export function moneyText(sum: number | null, currency: string): string {
  if (sum === null) return "unknown";
  const text = (value: number) => value.toLocaleString(undefined, { style: "currency", currency });
  return sum > 0 && sum < LEAST_SUM ? `under ${text(LEAST_SUM)}` : text(sum);
}

/** Share between 0 and 1. */
export function shareText(share: number | null): string {
  if (share === null) return "unknown";
  return share.toLocaleString(undefined, {
    style: "percent",
    maximumFractionDigits: share > 0.99 && share < 1 ? 2 : 1,
  });
}

/** Number with its unit; "unknown" without a number. */
export function amountText(value: number | null, unit: string): string {
  return value === null ? "unknown" : `${value.toLocaleString(undefined, { maximumFractionDigits: 1 })} ${unit}`.trim();
}

/** Count such as "1 environment", "3 environments". */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
}

/** Words of an identifier: "pull_request" is "pull request". */
export const spaced = (word: string) => word.replaceAll("_", " ");

/** Digits of a commit that people compare. */
export const shortCommit = (commit: string) => commit.slice(0, 7);
