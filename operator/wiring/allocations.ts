import type { Settings } from "../../config/settings.ts";
import { openCostAllocations } from "../adapters/opencost/allocations.ts";
import { contentOf } from "../kit/content-of.ts";
import type { Allocations } from "../ports/observability/allocations.ts";

/** Cost monitor of the settings, if any. */
export function createAllocations({ costs }: Pick<Settings, "costs">): Allocations | undefined {
  if (costs.openCost === undefined) return undefined;
  const { url, caFile } = costs.openCost;
  return openCostAllocations({ url, ca: contentOf(caFile) });
}
