import type { Life } from "../../crds/environment/life.ts";
import type { CentsByResource } from "../costs/price.ts";
import { sumOfCents } from "../costs/price.ts";
import { UNCHANGED_MS, unchangedMs } from "./analytics.ts";
import type { CostAnalysis } from "./schemas.ts";

type Recommendation = CostAnalysis["recommendations"][number];

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
/** Hours ahead for a protected environment, which never expires. */
const FORESEEN_HOURS = 30 * 24;

/** A reason why an environment may cost less, and the remedy. */
export interface WasteRule extends Pick<Recommendation, "reason" | "action"> {
  applies(life: Life, nowMs: number): boolean;
  message(life: Life, nowMs: number): string;
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
    applies: (life, nowMs) => isReady(life) && life.dueMs === undefined && unchangedMs(life, nowMs) >= WEEK_MS,
    message: (life, nowMs) =>
      `It was not changed for ${daysOf(life, nowMs)} days, and it never expires: take its protection away if it is not needed.`,
    savedCents: (perHour, hours) => sumOfCents(perHour) * hours,
  },
  {
    reason: "unchanged",
    action: "suspend",
    applies: (life, nowMs) => isReady(life) && life.dueMs !== undefined && unchangedMs(life, nowMs) >= UNCHANGED_MS,
    message: (life, nowMs) =>
      `It was not changed for ${daysOf(life, nowMs)} days: suspend or delete it if it is not used.`,
    // Volumes stay.
    savedCents: ({ cpu, memory }, hours) => (cpu + memory) * hours,
  },
];

/** Hours until the expiry, else `FORESEEN_HOURS`. */
export function hoursAhead({ dueMs }: Life, nowMs: number): number {
  return dueMs === undefined ? FORESEEN_HOURS : Math.max(0, dueMs - nowMs) / HOUR_MS;
}

const isReady = ({ phase }: Life) => phase === "ready";
const daysOf = (life: Life, nowMs: number) => Math.floor(unchangedMs(life, nowMs) / (24 * HOUR_MS));
