/**
 * ISO 8601: a date, with or without a time and an offset, in the extended or the basic form. A space before the offset
 * is the `+` of an unencoded query.
 */
const INSTANT =
  /^(?<date>\d{4}-\d{2}-\d{2}|\d{8})(?:[Tt ](?<hour>\d{2}):?(?<minute>\d{2})(?::?(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?(?<offset>[Zz]|[+ -]\d{2}(?::?\d{2})?)?)?$/;

/** Milliseconds since 1970 of an ISO 8601 timestamp; without an offset it is UTC. */
export function instantMs(text: string): number {
  const parts = INSTANT.exec(text)?.groups;
  if (parts === undefined) return Number.NaN;
  const { hour = "00", minute = "00", second = "00", fraction = "" } = parts;
  const date = (parts.date as string).replaceAll("-", "").replace(/^(\d{4})(\d{2})(\d{2})$/, "$1-$2-$3");
  if (!isDay(date)) return Number.NaN;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  return Date.parse(`${date}T${hour}:${minute}:${second}.${milliseconds}${offsetOf(parts.offset)}`);
}

function offsetOf(written = "Z"): string {
  if (written.toUpperCase() === "Z") return "Z";
  const [, sign, hours, minutes = "00"] = /^(.)(\d{2}):?(\d{2})?$/.exec(written) ?? [];
  return `${sign === " " ? "+" : sign}${hours}:${minutes}`;
}

/** `Date.parse` takes 30 February for a day in March. */
function isDay(date: string): boolean {
  const ms = Date.parse(date);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

export function isInstant(text: string): boolean {
  return !Number.isNaN(instantMs(text));
}
