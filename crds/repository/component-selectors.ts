import type { EphemeralEnvironment } from "../environment/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../names.ts";
import type { Repository } from "./repository.ts";

/** Labels of the pods, where its chart's Repository states them, by component of an environment. */
export type ComponentSelectors = {
  readonly [component in Component]?: { readonly labels?: Readonly<Record<string, string>> };
};

/**
 * Selects the pods of an environment by component.
 *
 * @param backend the Repository of its backend, whose chart makes all pods; `undefined` where it is unknown
 */
export function componentSelectors(
  { spec }: Pick<EphemeralEnvironment, "spec">,
  backend: Pick<Repository, "spec"> | undefined,
): ComponentSelectors {
  const present = COMPONENTS.filter((component) => spec[component] !== undefined);
  return Object.fromEntries(present.map((component) => [component, backend?.spec.workloads?.[component] ?? {}]));
}
