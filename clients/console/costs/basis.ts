import type { CostCoverage, CostSummary } from "../../sdk/index.ts";
import { amountText } from "../parts/words.ts";

const BASES: Readonly<Record<CostSummary["basis"], string>> = {
  requests: "By what pods and volumes requested, at the installation's prices.",
  opencost: "By what OpenCost allocated.",
  mixed: "Partly by what was requested, partly by what OpenCost allocated.",
};

/** Source of the sums, and their known share of time. */
export function basisText(basis: CostSummary["basis"], { known_percent: known }: CostCoverage): string {
  return known === null || known === 100
    ? BASES[basis]
    : `${BASES[basis]} Known for ${amountText(known, "%")} of the time.`;
}
