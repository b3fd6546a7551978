import type { MapTemplate } from "../../../crds/chart-values/mapping.ts";
import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import { componentsOf, type EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { givenVariables } from "../../../crds/environment/given-variables.ts";
import { COMPONENTS } from "../../../crds/names.ts";
import type { ValueOverride } from "../../../crds/overrides.schema.ts";
import { isOverridable } from "../../../crds/repository/repository.ts";
import { pathProblem, unusedOverrides } from "../../../crds/repository/values-mapping.ts";
import { type Scalar, scalarOf } from "../../../crds/scalar.ts";
import { variablesProblem } from "../../../crds/variable-limits.ts";
import type { ComponentRepositories } from "./repositories.ts";
import { failed, type Unfinished } from "./step-result.ts";

interface Allowing {
  readonly repositories: ComponentRepositories;
  /** Mapping of the chart's values; `undefined`: the platform's layout. */
  readonly mapping: MapTemplate | undefined;
}

/**
 * Step result for a forbidden override; `undefined` without one. A granted path stays granted when the Repository no
 * longer lists it.
 */
export function forbiddenOverride(environment: EphemeralEnvironment, allowing: Allowing): Unfinished | undefined {
  const { spec } = environment;
  const absent = COMPONENTS.filter((component) => spec[component] === undefined);
  const problems = [
    ...absent
      .filter((component) => spec.overrides?.[component] !== undefined)
      .map((component) => `spec.overrides.${component}: the environment has no ${component}`),
    ...COMPONENTS.flatMap((component) => {
      const unused = unusedOverrides(component, spec.overrides?.[component] ?? {}, allowing.mapping);
      return unused.map(({ field, problem }) => `spec.overrides.${component}.${field}: ${problem}`);
    }),
    ...valuesOf(environment).flatMap((override) => {
      const problem = valueProblem(override, environment, allowing);
      return problem === undefined ? [] : [`spec.overrides.values '${override.path}': ${problem}`];
    }),
  ];
  return problems.length === 0 ? undefined : failed("OverrideForbidden", problems.join("; "));
}

/** Step result for too many variables; `undefined` when they fit. */
export function excessiveVariables(
  environment: EphemeralEnvironment,
  configSet: ConfigSetSpec | undefined,
): Unfinished | undefined {
  const { overrides } = environment.spec;
  const given = componentsOf(environment).map(
    (component) => [component, givenVariables(component, overrides, configSet)] as const,
  );
  const problem = variablesProblem(given);
  return problem && failed("VariablesTooLong", problem.message);
}

/** Allowed overrides of chart values. */
export function grantedValues(
  environment: EphemeralEnvironment,
  allowing: Allowing,
): readonly { readonly path: string; readonly value: Scalar }[] {
  return valuesOf(environment).flatMap((override) => {
    const value = scalarOf(override.value);
    const isGranted = valueProblem(override, environment, allowing) === undefined;
    return isGranted && value !== undefined ? [{ path: override.path, value }] : [];
  });
}

const valuesOf = ({ spec }: EphemeralEnvironment) => spec.overrides?.values ?? [];

function valueProblem(
  override: ValueOverride,
  { spec, status }: EphemeralEnvironment,
  { repositories, mapping }: Allowing,
): string | undefined {
  const { path } = override;
  const absent = COMPONENTS.find((component) => spec[component] === undefined && path.startsWith(`${component}.`));
  if (mapping === undefined && absent !== undefined) return `the environment has no ${absent}`;
  const isGranted = isOverridable(path, Object.values(repositories)) || status?.grantedValues?.includes(path);
  if (!isGranted) return "no Repository of the environment lists it as overridable";
  if (scalarOf(override.value) === undefined)
    return "the value must be a string, a number, true, false or null, as JSON";
  return pathProblem(path, mapping);
}
