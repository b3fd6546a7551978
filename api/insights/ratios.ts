import type { Tally } from "../../operator/ports/observability/summary.ts";
import { rounded } from "../schemas/fields.ts";

const HOUR_S = 3_600;

/** Share of ready ones among those that became ready or failed; `null` without any. */
export function successRate({ succeeded, failed }: Tally): number | null {
  return succeeded + failed === 0 ? null : rounded(succeeded / (succeeded + failed), 4);
}

/** `null` when none was deleted. */
export function averageLifetimeHours({ deleted, lifetimeSeconds }: Tally): number | null {
  return deleted === 0 ? null : rounded(lifetimeSeconds / deleted / HOUR_S, 2);
}

/** `null` when none became ready. */
export function averageProvisionSeconds({ succeeded, provisionSeconds }: Tally): number | null {
  return succeeded === 0 ? null : rounded(provisionSeconds / succeeded, 1);
}
