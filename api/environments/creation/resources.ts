import type { Settings } from "../../../config/settings.ts";
import { type ConfigSetSpec, hardLimits } from "../../../crds/config-set.ts";
import type { Violation } from "../../../crds/errors.ts";
import type { Component } from "../../../crds/names.ts";
import type { ComponentOverrides } from "../../../crds/overrides.schema.ts";
import { thousandthsOfQuantity } from "../../../crds/quantity.ts";

type Resources = NonNullable<ComponentOverrides["resources"]>;

export interface GivenResources {
  readonly component: Component;
  readonly resources: Resources;
  /** Path of the resources in the request. */
  readonly field: string;
}

/** Bounds of a component's resources. */
export interface ResourceBounds {
  readonly quota: Settings["isolation"]["quota"];
  readonly configSet: ConfigSetSpec | undefined;
}

/**
 * Violations of requested resources: a request above the limit, which Kubernetes refuses, or above the environment's
 * quota, in which no pod would fit. A request above the namespace's default limit raises that limit.
 */
export function resourceViolations(
  { component, resources, field }: GivenResources,
  { quota, configSet }: ResourceBounds,
): readonly Violation[] {
  const below = configSet?.helmValues?.[component]?.resources;
  const hard = { ...quota, ...hardLimits(configSet?.quota ?? {}) };
  return (["cpu", "memory"] as const).flatMap((resource) => {
    const request = resources.requests?.[resource];
    const limit = resources.limits?.[resource];
    const limitInForce = limit ?? below?.limits?.[resource];
    const most = hard[`limits.${resource}`];
    return [
      ...above(`${field}.requests.${resource}`, request, [
        ["its limit", limitInForce],
        ["the environment's quota", hard[`requests.${resource}`]],
        ["the environment's quota of limits", most],
      ]),
      ...above(`${field}.limits.${resource}`, limit, [["the environment's quota", most]]),
      ...(request === undefined && isAbove(below?.requests?.[resource], limit)
        ? [
            {
              field: `${field}.limits.${resource}`,
              message: `is below the request, ${below?.requests?.[resource]}, of the config set`,
            },
          ]
        : []),
    ];
  });
}

function above(
  field: string,
  amount: string | undefined,
  bounds: readonly (readonly [name: string, most: string | undefined])[],
): readonly Violation[] {
  const exceeded = bounds.find(([, most]) => isAbove(amount, most));
  return exceeded === undefined ? [] : [{ field, message: `is more than ${exceeded[0]}, ${exceeded[1]}` }];
}

function isAbove(amount: string | undefined, most: string | undefined): boolean {
  return amount !== undefined && most !== undefined && thousandthsOfQuantity(amount) > thousandthsOfQuantity(most);
}
