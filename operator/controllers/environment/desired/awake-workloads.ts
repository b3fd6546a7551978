import type { Settings } from "../../../../config/settings.ts";
import { componentsOf } from "../../../../crds/environment/ephemeral-environment.ts";
import { mappingOf } from "../../../../crds/repository/values-mapping.ts";
import type { AwakeWorkload } from "../../../ports/workload-scaler.ts";
import { desiredServices, type PlanInput } from "../plan-input.ts";
import { environmentValues } from "./values.ts";

/**
 * Workloads of the platform's layout, with their pods while the environment is awake. Empty for a chart with values of its
 * own, whose workloads are not known.
 *
 * @param values the chart's, of the environment while it is awake
 */
export function awakeWorkloads(
  input: PlanInput,
  values: Readonly<Record<string, unknown>>,
  settings: Settings,
): readonly AwakeWorkload[] {
  if (mappingOf(input, settings) !== undefined) return [];
  const components = componentsOf(input.environment).map((name): AwakeWorkload => {
    const { replicas = 1 } = values[name] as { readonly replicas?: number };
    return { kind: "Deployment", name, replicas };
  });
  const services = desiredServices(input).map(
    ({ name }): AwakeWorkload => ({ kind: "StatefulSet", name, replicas: 1 }),
  );
  return [...services, ...components].filter(({ replicas }) => replicas > 0);
}

/** Values of the environment if it were suspended. */
export function valuesWhileSuspended(input: PlanInput, settings: Settings): Record<string, unknown> {
  const { environment } = input;
  const suspended = { ...environment, spec: { ...environment.spec, suspended: true } };
  return environmentValues({ ...input, environment: suspended }, settings);
}
