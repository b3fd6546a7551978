import { componentsOf } from "../environment/ephemeral-environment.ts";
import type { Component } from "../names.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";
import { grantedRepository } from "./repository-use.ts";

/** Labels of the pods, where its chart's Repository states them, by component of an environment. */
export type ComponentSelectors = {
  readonly [component in Component]?: { readonly labels?: Readonly<Record<string, string>> };
};

/**
 * The labels by which an environment's pods are of a component: those that the Repository of its backend names, whose chart makes the
 * pods of both components, where the environment may use that.
 */
export function selectorsOf(
  environment: EphemeralEnvironment,
  { repositories }: { readonly repositories: Parameters<typeof grantedRepository>[2] },
): ComponentSelectors {
  const backend = grantedRepository(environment, "backend", repositories);
  const labelled = componentsOf(environment).map((component) => [
    component,
    backend?.spec.workloads?.[component] ?? {},
  ]);
  return Object.fromEntries(labelled);
}
