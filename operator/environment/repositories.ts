import type { Settings } from "../../config/settings.ts";
import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../crds/names.ts";
import type { ChartSource, Repository } from "../../crds/repository.ts";
import type { Repositories } from "../ports/repositories.ts";
import { failed, type StepResult } from "./step.ts";

/** The Repositories that the environment's components name; one that is absent or of the other type is left out. */
export function repositoriesOf(
  { spec }: EphemeralEnvironment,
  repositories: Repositories,
): { readonly [component in Component]?: Repository } {
  const find = (component: Component) => {
    const source = spec[component];
    const found = source && repositories.find(source.repository);
    return found?.spec.type === component ? { [component]: found } : {};
  };
  return { ...find("backend"), ...find("frontend") };
}

/** The chart that the environment is rendered with: the backend Repository's own, else the default one. */
export function chartOf({ backend }: { readonly backend?: Repository }, { defaultChart }: Settings): ChartSource {
  return backend?.spec.chart ?? defaultChart;
}

/** What a step answers when a component's Repository is not there; registering it wakes the environment. */
export function missingRepository(
  { spec }: EphemeralEnvironment,
  found: { readonly [component in Component]?: Repository },
): StepResult | undefined {
  const missing = COMPONENTS.find((component) => spec[component] !== undefined && found[component] === undefined);
  if (missing === undefined) return undefined;
  const name = spec[missing]?.repository;
  return failed(
    "RepositoryNotFound",
    `no ${missing} Repository '${name}' is registered: register it, or make the environment anew with another one`,
  );
}
