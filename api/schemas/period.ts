/** Period of figures: a window until now, or two instants. */
import { type Static, Type } from "typebox";
import { HOUR_MS } from "../../crds/durations.ts";
import { closed, literals } from "../../crds/schema.ts";
import type { Period } from "../../crds/usage/period-summary.ts";
import { HttpError } from "../errors.ts";
import { instantMs } from "../input/instant.ts";
import { Instant, orNull } from "./fields.ts";

const WINDOWS_MS = { "24h": 24 * HOUR_MS, "7d": 7 * 24 * HOUR_MS, "30d": 30 * 24 * HOUR_MS } as const;
const DEFAULT_WINDOW = "30d";

const timestamp = (description: string, example: string) =>
  Type.Optional(Type.String({ format: "instant", maxLength: 64, description, examples: [example] }));

export const PeriodQuery = closed({
  window: Type.Optional(
    literals(Object.keys(WINDOWS_MS) as (keyof typeof WINDOWS_MS)[], {
      description: `The time before now; ${DEFAULT_WINDOW} unless said, or from and to.`,
    }),
  ),
  from: timestamp("ISO 8601; with to, instead of a window.", "2026-05-01T00:00:00Z"),
  to: timestamp("ISO 8601, later than from.", "2026-06-01T00:00:00Z"),
});
export type PeriodQuery = Static<typeof PeriodQuery>;

export const INTERVALS = ["day", "week"] as const;
export type Interval = (typeof INTERVALS)[number];

/** Query for a series. */
export const SeriesQuery = closed({
  ...PeriodQuery.properties,
  interval: Type.Optional(
    literals(INTERVALS, {
      description: "Interval between points of the series; default day. Weeks begin on Monday, UTC.",
    }),
  ),
});

export const PeriodReport = closed({ from: Instant, to: Instant }, { title: "Period" });

/**
 * Requested period.
 *
 * @throws HttpError `malformed` for half a period, one that ends before it begins, or one beside a window
 */
export function periodOf({ window, from, to }: PeriodQuery, now: Date): Period {
  const toMs = now.getTime();
  if (from === undefined && to === undefined) return { fromMs: toMs - WINDOWS_MS[window ?? DEFAULT_WINDOW], toMs };
  if (from === undefined || to === undefined)
    throw refused(from === undefined ? "from" : "to", "is required: from and to come together");
  if (window !== undefined) throw refused("window", "must be absent beside from and to");
  const period = { fromMs: instantMs(from), toMs: instantMs(to) };
  if (period.fromMs >= period.toMs) throw refused("from", "must be before to");
  return period;
}

export function toPeriod({ fromMs, toMs }: Period): Static<typeof PeriodReport> {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

const refused = (field: string, message: string) => new HttpError("malformed", `${field}: ${message}`);

/** A number that only what happened in the period has. */
export const numberOfPeriod = (description: string) =>
  orNull(Type.Number(), `${description} null: there was none in the period.`);
