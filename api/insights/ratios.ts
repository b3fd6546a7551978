import type { Totals } from "../../crds/usage/period-summary.ts";
import { rounded } from "../schemas/fields.ts";

const HOUR_S = 3_600;

/** Share of ready ones among those that became ready or failed; `null` without any. */
export function successRate({ succeeded, failed }: Totals): number | null {
  return succeeded + failed === 0 ? null : rounded(succeeded / (succeeded + failed), 4);
}

/** `null` when none was deleted. */
export function averageLifetimeHours({ deleted, lifetimeSeconds }: Totals): number | null {
  return deleted === 0 ? null : rounded(lifetimeSeconds / deleted / HOUR_S, 2);
}

/** `null` when none became ready. */
export function averageProvisionSeconds({ succeeded, provisionSeconds }: Totals): number | null {
  return succeeded === 0 ? null : rounded(provisionSeconds / succeeded, 1);
}
