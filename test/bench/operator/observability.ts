import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import type { Alternation, Phase } from "./alternation.ts";
import type { Samples } from "./creation-samples.ts";

/** The limit for a creation's time. */
const MOST = 1.03;
/** The limit for the writes of Events in a burst, in percent of the others. */
const MOST_EVENTS = 3;

/** Verdict on one environment's way, of environments made one at a time. Their Events are written later, on either side. */
export function wayVerdict(alternation: Alternation): Verdict {
  const { observed, unobserved, detail } = ratesOf(alternation);
  return {
    what: "one environment's way to ready with metrics and noted Events, beside without",
    figure: unobserved / observed,
    limit: MOST,
    unit: "×",
    detail,
  };
}

/**
 * Verdict on the Events that are written in a burst: their part of the writes is about what they cost of the rate. Rates of turns
 * differ by more than that. They are written by the clock, so that their part is larger on a slow machine.
 */
export function eventsVerdict({ eventParts }: Samples): Verdict {
  return {
    what: "writes of Events in a burst, beside all others",
    figure: 100 * median(eventParts),
    limit: MOST_EVENTS,
    unit: "%",
    detail: `the middle of ${eventParts.map((part) => `${(100 * part).toFixed(1)} %`).join(", ")}`,
  };
}

/** Writes a second. */
function ratesOf({ observed, unobserved }: Alternation) {
  const rate = ({ ms, writes }: Phase) => (writes * 1000) / ms;
  const [one, other] = [observed, unobserved].map((phases) => rate(sumOf(phases))) as [number, number];
  // Of neighbours, which a slow moment of the machine affects both.
  const ratios = observed.map((phase, index) => rate(phase) / rate(unobserved[index] as Phase));
  const detail = `with ${one.toFixed(1)} writes a second, without ${other.toFixed(1)}; ${spreadOf(ratios)}`;
  return { observed: one, unobserved: other, detail };
}

function sumOf(phases: readonly Phase[]): Phase {
  const sum = (field: keyof Phase) => phases.reduce((all, phase) => all + phase[field], 0);
  return { ms: sum("ms"), writes: sum("writes") };
}

/** Says how far the pairs are from each other. */
function spreadOf(ratios: readonly number[]): string {
  const [low, high] = [quantile(ratios, 0.25), quantile(ratios, 0.75)].map((ratio) => `${ratio.toFixed(2)}×`);
  return `${ratios.length} pairs: the middle is ${median(ratios).toFixed(2)}×, the quartiles are ${low} and ${high}`;
}
