import type { ValueOverride } from "../../crds/ephemeral-environment.schema.ts";
import type { EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { COMPONENTS, type Component } from "../../crds/names.ts";
import { isOverridable, type Repository } from "../../crds/repository.ts";
import { failed, type Unfinished } from "./step.ts";

/** What a chart's value can be overridden with. */
export type Scalar = string | number | boolean | null;

/** The scalar that an override writes as JSON; `undefined` for what is none, or would lose digits on its way. */
export function scalarOf({ value }: ValueOverride): Scalar | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return undefined;
  }
  if (typeof parsed === "number") return isExact(parsed) ? parsed : undefined;
  return parsed === null || typeof parsed === "string" || typeof parsed === "boolean" ? parsed : undefined;
}

const isExact = (number: number) =>
  Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number));

/** What a step answers when an override is none that the environment may have; `undefined` when all may be. */
export function forbiddenOverride(
  { spec }: EphemeralEnvironment,
  repositories: { readonly [component in Component]?: Repository },
): Unfinished | undefined {
  const { values = [] } = spec.overrides ?? {};
  const absent = COMPONENTS.filter((component) => spec[component] === undefined);
  const problems = [
    ...absent
      .filter((component) => spec.overrides?.[component] !== undefined)
      .map((component) => `spec.overrides.${component}: the environment has no ${component}`),
    ...values.flatMap((override) => {
      const problem = valueProblem(override, absent, Object.values(repositories));
      return problem === undefined ? [] : [`spec.overrides.values '${override.path}': ${problem}`];
    }),
  ];
  return problems.length === 0 ? undefined : failed("OverrideForbidden", problems.join("; "));
}

function valueProblem(
  override: ValueOverride,
  absent: readonly Component[],
  repositories: readonly Repository[],
): string | undefined {
  const component = absent.find((name) => override.path.startsWith(`${name}.`));
  if (component !== undefined) return `the environment has no ${component}`;
  if (!isOverridable(override.path, repositories)) return "no Repository of the environment lists it as overridable";
  if (scalarOf(override) === undefined) return "the value must be a string, a number, true, false or null, as JSON";
  return undefined;
}
