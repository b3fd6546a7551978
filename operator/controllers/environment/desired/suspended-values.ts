import { COMPONENTS } from "../../../../crds/names.ts";

/**
 * The values of a suspended environment: `replicas: 0` for every component, also against an override, and `suspended` for
 * everything else in the chart. The deployer's self-heal keeps it so.
 */
export function suspendedValues(values: Record<string, unknown>): Record<string, unknown> {
  const scaled = COMPONENTS.flatMap((component) => {
    const given = values[component] as object | undefined;
    return given === undefined ? [] : [[component, { ...given, replicas: 0 }]];
  });
  return { ...values, ...Object.fromEntries(scaled), suspended: true };
}
