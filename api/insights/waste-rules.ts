import { HOUR_MS, WEEK_MS } from "../../crds/durations.ts";
import { type CentsByResource, sumOfCents } from "../../crds/usage/price.ts";
import type { UsageRecord } from "../../crds/usage/usage-record.ts";
import { UNCHANGED_MS, unchangedMs } from "./analytics.ts";
import type { CostAnalysis } from "./schemas.ts";

type Recommendation = CostAnalysis["recommendations"][number];

/** Hours ahead for a protected environment, which never expires. */
const FORESEEN_HOURS = 30 * 24;

/** A reason why an environment may cost less, and the remedy. */
export interface WasteRule extends Pick<Recommendation, "reason" | "action"> {
  applies(record: UsageRecord, nowMs: number): boolean;
  message(record: UsageRecord, nowMs: number): string;
  /** Saving, in cents that are not rounded. */
  savedCents(perHour: CentsByResource, hours: number): number;
}

/** Only the first that applies is reported. */
export const WASTE_RULES: readonly WasteRule[] = [
  {
    reason: "failed",
    action: "delete",
    applies: ({ phase }) => phase === "failed",
    message: ({ failure }) =>
      `It failed${failure === undefined ? "" : ` (${failure})`} and still requests resources: delete it, or mend it.`,
    savedCents: (perHour, hours) => sumOfCents(perHour) * hours,
  },
  {
    reason: "protected",
    action: "unprotect",
    applies: (record, nowMs) => isReady(record) && record.dueMs === undefined && unchangedMs(record, nowMs) >= WEEK_MS,
    message: (record, nowMs) =>
      `It was not changed for ${daysOf(record, nowMs)} days, and it never expires: take its protection away if it is not needed.`,
    savedCents: (perHour, hours) => sumOfCents(perHour) * hours,
  },
  {
    reason: "unchanged",
    action: "suspend",
    applies: (record, nowMs) =>
      isReady(record) && record.dueMs !== undefined && unchangedMs(record, nowMs) >= UNCHANGED_MS,
    message: (record, nowMs) =>
      `It was not changed for ${daysOf(record, nowMs)} days: suspend or delete it if it is not used.`,
    // Volumes stay.
    savedCents: ({ cpu, memory }, hours) => (cpu + memory) * hours,
  },
];

/** Hours until the expiry, else `FORESEEN_HOURS`. */
export function hoursAhead({ dueMs }: UsageRecord, nowMs: number): number {
  return dueMs === undefined ? FORESEEN_HOURS : Math.max(0, dueMs - nowMs) / HOUR_MS;
}

const isReady = ({ phase }: UsageRecord) => phase === "ready";
const daysOf = (record: UsageRecord, nowMs: number) => Math.floor(unchangedMs(record, nowMs) / (24 * HOUR_MS));
