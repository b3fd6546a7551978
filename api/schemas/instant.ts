/** What ISO 8601 lets people write: a date, or a date with a time, with or without an offset. */
const INSTANT = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/;
const HAS_OFFSET = /([Zz]|[+-]\d{2}:?\d{2})$/;
const DATE_LENGTH = "2026-01-01".length;

/** Milliseconds since 1970 of an ISO 8601 timestamp; without an offset it is UTC, whatever the machine's zone. */
export function instantMs(text: string): number {
  if (!INSTANT.test(text) || !isDay(text.slice(0, DATE_LENGTH))) return Number.NaN;
  const dateOnly = text.length === DATE_LENGTH;
  return Date.parse(dateOnly || HAS_OFFSET.test(text) ? text : `${text}Z`);
}

/** `Date.parse` takes 30 February for a day in March. */
function isDay(text: string): boolean {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

/** Whether a text names a moment. */
export function isInstant(text: string): boolean {
  return !Number.isNaN(instantMs(text));
}
