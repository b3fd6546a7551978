import type { ComponentOverrides } from "../../../../crds/environment/overrides.schema.ts";
import { canonicalQuantity, thousandthsOfQuantity } from "../../../../crds/quantity.ts";

/** CPU and memory of each pod of a component. */
export type Resources = NonNullable<ComponentOverrides["resources"]>;

/**
 * The resources of a component, with a limit for every request that is above the namespace's default limit: Kubernetes gives a
 * container without a limit the default one, and refuses a pod whose request is above its limit.
 *
 * @param defaultLimit the default limits of a container, by resource (the setting `isolation.defaultLimit`)
 */
export function withFittingLimits(resources: Resources, defaultLimit: Readonly<Record<string, string>>): Resources {
  const raised = (["cpu", "memory"] as const).flatMap((resource) => {
    const request = resources.requests?.[resource];
    const byDefault = defaultLimit[resource];
    if (request === undefined || byDefault === undefined || resources.limits?.[resource] !== undefined) return [];
    const isAbove = thousandthsOfQuantity(request) > thousandthsOfQuantity(byDefault);
    return isAbove ? [[resource, canonicalQuantity(request)] as const] : [];
  });
  return raised.length === 0
    ? resources
    : { ...resources, limits: { ...resources.limits, ...Object.fromEntries(raised) } };
}
