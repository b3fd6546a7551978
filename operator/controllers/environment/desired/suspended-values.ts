import { COMPONENTS } from "../../../../crds/names.ts";

/**
 * Values of a suspended environment: `replicas: 0` for every component, over any override, and `suspended` for the rest
 * of the chart. The deployer's self-heal keeps it so.
 */
export function suspendedValues(values: Record<string, unknown>): Record<string, unknown> {
  const scaled = COMPONENTS.flatMap((component) => {
    const given = values[component] as object | undefined;
    return given === undefined ? [] : [[component, { ...given, replicas: 0 }]];
  });
  return { ...values, ...Object.fromEntries(scaled), suspended: true };
}
