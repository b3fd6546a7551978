import type { ConfigSetSpec } from "../config-set.schema.ts";
import type { Component } from "../names.ts";
import type { EnvironmentSpec, EnvironmentVariable } from "./ephemeral-environment.schema.ts";

/** A variable of a component, and who gives it. */
export type GivenVariable = EnvironmentVariable & { readonly origin: "config_set" | "override" };

/**
 * The variables that people set for a component, each name once. The config set's own come first, then those of its
 * values for the component, then the environment's overrides: the last of a name wins as a whole.
 */
export function givenVariables(
  component: Component,
  overrides: EnvironmentSpec["overrides"],
  configSet: ConfigSetSpec | undefined,
): readonly GivenVariable[] {
  const layers: readonly GivenVariable[] = [
    ...from("config_set", configSet?.env),
    ...from("config_set", configSet?.helmValues?.[component]?.env),
    ...from("override", overrides?.[component]?.env),
  ];
  return [...new Map(layers.map((variable) => [variable.name, variable])).values()];
}

const from = (origin: GivenVariable["origin"], variables: readonly EnvironmentVariable[] = []) =>
  variables.map((variable) => ({ ...variable, origin }));
