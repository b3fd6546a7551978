import type { EphemeralEnvironment } from "../environment/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../names.ts";
import type { Repository } from "./repository.ts";

/** By component that an environment has: the labels of its pods, where its chart's Repository says them. */
export type ComponentSelectors = {
  readonly [component in Component]?: { readonly labels?: Readonly<Record<string, string>> };
};

/**
 * What says which pods of an environment are of which component.
 *
 * @param backend the Repository of its backend, whose chart makes the pods of both components; none where it is not known
 */
export function componentSelectors(
  { spec }: Pick<EphemeralEnvironment, "spec">,
  backend: Pick<Repository, "spec"> | undefined,
): ComponentSelectors {
  const present = COMPONENTS.filter((component) => spec[component] !== undefined);
  return Object.fromEntries(present.map((component) => [component, backend?.spec.workloads?.[component] ?? {}]));
}
