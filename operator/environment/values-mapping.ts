import type { Settings } from "../../config/settings.ts";
import type { MapTemplate, UnreadableValues } from "../../crds/chart-values/mapping.ts";
import { valuesMapping } from "../../crds/chart-values/values-mapping.ts";
import type { PlanInput } from "./plan-input.ts";
import { chartOf } from "./repositories.ts";

/**
 * The values that the environment's chart is mapped to, before references are filled in; `undefined`: it gets the platform's
 * layout.
 */
export function mappingOf(
  { repositories, configSet }: Pick<PlanInput, "repositories" | "configSet">,
  settings: Settings,
): MapTemplate | UnreadableValues | undefined {
  return valuesMapping(chartOf(repositories, settings), configSet);
}

/** The same where it is readable. */
export function readableMapping(
  input: Pick<PlanInput, "repositories" | "configSet">,
  settings: Settings,
): MapTemplate | undefined {
  const mapping = mappingOf(input, settings);
  return mapping !== undefined && "problem" in mapping ? undefined : mapping;
}
