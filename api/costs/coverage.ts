import type { Charged } from "../../crds/usage/allocations.ts";
import type { Totals } from "../../crds/usage/period-summary.ts";
import type { Basis, CostCoverage } from "./schemas.ts";

/** Source of the costs, and their known share of time. */
export function costBasis(totals: Totals): { readonly basis: Basis; readonly coverage: CostCoverage } {
  const { thereSeconds, knownSeconds, allocatedSeconds } = totals;
  const percent = (seconds: number) =>
    thereSeconds === 0 ? null : Math.round((seconds / thereSeconds) * 10_000) / 100;
  return {
    basis: basisOf(totals),
    coverage: { known_percent: percent(knownSeconds), allocated_percent: percent(allocatedSeconds) },
  };
}

function basisOf({ allocatedSeconds, knownSeconds }: Charged): Basis {
  if (allocatedSeconds === 0) return "requests";
  return allocatedSeconds === knownSeconds ? "opencost" : "mixed";
}
