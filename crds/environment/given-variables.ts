import type { ConfigSetSpec } from "../config-set.schema.ts";
import type { Component } from "../names.ts";
import type { EnvironmentVariable } from "../overrides.schema.ts";
import type { EnvironmentSpec } from "./ephemeral-environment.schema.ts";

/** A variable of a component, and its origin. */
export type GivenVariable = EnvironmentVariable & { readonly origin: "config_set" | "override" };

/**
 * Variables that users set for a component, each name once. Later sources win: the config set's variables, its values
 * for the component, the environment's overrides.
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
