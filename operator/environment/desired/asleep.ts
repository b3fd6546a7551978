import { COMPONENTS } from "../../../crds/names.ts";

/**
 * The values of a suspended environment: every component at no replica, whatever its overrides say, and `suspended` for
 * all else that a chart makes run. The deployer heals towards these, so that nobody wakes it by accident.
 */
export function asleep(values: Record<string, unknown>): Record<string, unknown> {
  const scaled = COMPONENTS.flatMap((component) => {
    const given = values[component] as object | undefined;
    return given === undefined ? [] : [[component, { ...given, replicas: 0 }]];
  });
  return { ...values, ...Object.fromEntries(scaled), suspended: true };
}
