import type { ComponentOverrides } from "../../../../crds/environment/overrides.schema.ts";
import { canonicalQuantity, thousandthsOfQuantity } from "../../../../crds/quantity.ts";

/** CPU and memory of a component's pod. */
export type Resources = NonNullable<ComponentOverrides["resources"]>;

/**
 * Resources of a component, with a limit for every request above the namespace's default limit: Kubernetes gives a
 * container without a limit the default one, and refuses a pod whose request exceeds its limit.
 *
 * @param defaultLimit default limits of a container, by resource (the setting `isolation.defaultLimit`)
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
