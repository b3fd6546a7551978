import type { Settings } from "../../../config/settings.ts";
import type { MapTemplate } from "../../../crds/chart-values/mapping.ts";
import { type ConfigSet, type ConfigSetSpec, referredVariables } from "../../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.schema.ts";
import { givenVariables } from "../../../crds/environment/given-variables.ts";
import type { Violation } from "../../../crds/errors.ts";
import { isJsonObject } from "../../../crds/json.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import {
  type ComponentOverrides,
  type EnvironmentVariable,
  PORT_VARIABLE,
  type SecretRef,
  type ValueOverride,
} from "../../../crds/overrides.schema.ts";
import { present } from "../../../crds/present.ts";
import { isOverridable, neededSecrets, type Repository } from "../../../crds/repository/repository.ts";
import { pathProblem, readableMapping, unusedOverrides } from "../../../crds/repository/values-mapping.ts";
import { scalarOf } from "../../../crds/scalar.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import {
  bytesOfVariables,
  ENVIRONMENT_MAX_BYTES,
  MOST_REFERENCES,
  variablesProblem,
} from "../../../crds/variable-limits.ts";
import type { ReferredVariable } from "../../auth/secret-references.ts";
import { MAX_FINDINGS } from "../../input/validation.ts";
import type { ComponentOverridesRequest } from "../../schemas/config-overrides.ts";
import { type ResourceBounds, resourceViolations } from "./resources.ts";
import type { CreateRequest } from "./schemas.ts";

const VALUE_MAX_LENGTH = 4096;
const FIELD = "config_overrides.helm_values";

/** A request's overrides by destination. */
export interface Overrides {
  /** Part in the resource; absent when empty. */
  readonly overrides?: NonNullable<EnvironmentSpec["overrides"]>;
  /** Secret values: for the secret manager, never for the resource. */
  readonly provided: ReadonlyMap<string, Sensitive>;
  readonly references: readonly ReferredVariable[];
  readonly violations: readonly Violation[];
}

interface Named {
  readonly sources: { readonly [component in Component]?: { readonly repository: Repository } };
  readonly configSet: ConfigSet | undefined;
  readonly hasDatabase: boolean;
  readonly settings: Pick<Settings, "defaultChart" | "isolation">;
}

/**
 * Splits a request's `config_overrides` into the resource's part, the secret manager's values, and violations, each
 * with its path. The schema has been checked. The password of a database is always a secret.
 */
export function readOverrides(request: CreateRequest, named: Named): Overrides {
  const { sources, configSet, hasDatabase, settings } = named;
  const repositories = Object.values(sources).map(({ repository }) => repository);
  const secrets = neededSecrets(repositories, hasDatabase).map(({ name }) => name);
  const bounds = { quota: settings.isolation.quota, configSet: configSet?.spec };
  // The environment reports unreadable values.
  const chart = { repositories: { backend: sources.backend?.repository }, configSet: configSet?.spec };
  const reader = new OverridesReader(repositories, secrets, { bounds, mapping: readableMapping(chart, settings) });
  for (const component of COMPONENTS) {
    const given = request.config_overrides?.helm_values?.[component];
    if (given === undefined) continue;
    const field = `${FIELD}.${component}`;
    if (sources[component] === undefined) reader.violate(field, `needs ${component}_repo`);
    else reader.take(component, given, field);
  }
  reader.measure(
    COMPONENTS.filter((component) => sources[component] !== undefined),
    configSet?.spec,
  );
  if (request.auto_generate_secrets === false) {
    const referred = configSet && referredVariables(configSet.spec, request.use_shared_api_keys ?? false);
    reader.requireSecrets(referred ?? []);
  }
  return reader.result();
}

class OverridesReader {
  readonly #mapping: MapTemplate | undefined;
  readonly #repositories: readonly Repository[];
  readonly #secret: ReadonlySet<string>;
  readonly #bounds: ResourceBounds;
  readonly #components: { [component in Component]?: ComponentOverrides } = {};
  readonly #values: ValueOverride[] = [];
  readonly #provided = new Map<string, string>();
  readonly #references: ReferredVariable[] = [];
  readonly #violations: Violation[] = [];

  /**
   * @param secrets the variables whose values are secrets
   * @param mapping template of the chart's values; `undefined`: the platform's layout
   */
  constructor(
    repositories: readonly Repository[],
    secrets: readonly string[],
    { bounds, mapping }: { readonly bounds: ResourceBounds; readonly mapping: MapTemplate | undefined },
  ) {
    this.#bounds = bounds;
    this.#mapping = mapping;
    this.#repositories = repositories;
    this.#secret = new Set(secrets);
  }

  violate(field: string, message: string): void {
    if (this.#violations.length < MAX_FINDINGS) this.#violations.push({ field, message });
  }

  take(component: Component, { env, replicas, resources, ...others }: ComponentOverridesRequest, field: string): void {
    const variables = this.#variables(env ?? {}, `${field}.env`);
    if (resources !== undefined) {
      const given = { component, resources, field: `${field}.resources` };
      for (const one of resourceViolations(given, this.#bounds)) this.violate(one.field, one.message);
    }
    const overrides: ComponentOverrides = {
      ...(variables.length > 0 ? { env: variables } : {}),
      ...present({ replicas, resources }),
    };
    if (Object.keys(overrides).length > 0) this.#components[component] = overrides;
    for (const { field: name, problem } of unusedOverrides(component, overrides, this.#mapping)) {
      this.violate(`${field}.${name}`, problem);
    }
    for (const [name, value] of Object.entries(others)) this.#value(`${component}.${name}`, value);
  }

  /** Checks that the variables, also the config set's, fit into their objects. */
  measure(components: readonly Component[], configSet: ConfigSetSpec | undefined): void {
    const given = components.map(
      (component) => [component, givenVariables(component, this.#components, configSet)] as const,
    );
    const problem = variablesProblem(given);
    const field = problem?.component === undefined ? FIELD : `${FIELD}.${problem.component}.env`;
    if (problem !== undefined) this.violate(field, problem.message);
    const secrets = bytesOfVariables([...this.#provided].map(([name, value]) => ({ name, value })));
    if (secrets > ENVIRONMENT_MAX_BYTES) this.violate(FIELD, `may give ${ENVIRONMENT_MAX_BYTES / 1024} KiB of secrets`);
  }

  /** Requires every secret, as a value or a reference of the config set, where nothing is generated. */
  requireSecrets(ofConfigSet: readonly string[]): void {
    const given = new Set([
      ...this.#provided.keys(),
      ...this.#references.map(({ variable }) => variable),
      ...ofConfigSet,
    ]);
    const missing = [...this.#secret].filter((name) => !given.has(name));
    if (missing.length === 0) return;
    this.violate("auto_generate_secrets", `nothing is generated, so config_overrides must give ${missing.join(", ")}`);
  }

  #variables(env: NonNullable<ComponentOverridesRequest["env"]>, field: string): EnvironmentVariable[] {
    const variables = Object.entries(env).flatMap(([name, value]) => this.#variable(name, value, `${field}.${name}`));
    if (variables.filter(({ secretRef }) => secretRef !== undefined).length > MOST_REFERENCES) {
      this.violate(field, `may refer to ${MOST_REFERENCES} secrets at most`);
    }
    return variables;
  }

  #variable(
    name: string,
    value: string | { readonly secretKeyRef: SecretRef },
    field: string,
  ): readonly EnvironmentVariable[] {
    if (name === PORT_VARIABLE) this.violate(field, "is what the platform sets: change port of the Repository");
    if (typeof value !== "string") return this.#reference(name, value.secretKeyRef, field);
    if (!this.#secret.has(name)) return [{ name, value }];
    if (value === "") this.violate(field, "must not be empty: it is a secret");
    this.#oneSource(name, value === (this.#provided.get(name) ?? value) && !this.#refersTo(name), field);
    this.#provided.set(name, value);
    return [];
  }

  #reference(name: string, secretRef: SecretRef, field: string): readonly EnvironmentVariable[] {
    const other = this.#references.find(({ variable }) => variable === name);
    const isSame = other === undefined || (other.name === secretRef.name && other.key === secretRef.key);
    this.#oneSource(name, isSame && !this.#provided.has(name), field);
    this.#references.push({ ...secretRef, variable: name, field: `${field}.secretKeyRef.name` });
    return [{ name, secretRef }];
  }

  #refersTo(name: string): boolean {
    return this.#references.some(({ variable }) => variable === name);
  }

  #oneSource(name: string, isOne: boolean, field: string): void {
    if (!isOne) this.violate(field, `${name} has one value for all components, and another one is given elsewhere`);
  }

  #value(path: string, value: unknown): void {
    if (isJsonObject(value) && Object.keys(value).length > 0) {
      for (const [name, child] of Object.entries(value)) this.#value(`${path}.${name}`, child);
      return;
    }
    const problem = this.#valueProblem(path, value);
    if (problem === undefined) this.#values.push({ path, value: JSON.stringify(value) });
    else this.violate(`config_overrides.helm_values.${path.slice(0, 300)}`, problem);
  }

  #valueProblem(path: string, value: unknown): string | undefined {
    if (!isOverridable(path, this.#repositories))
      return "is not overridable: no Repository of the environment lists it";
    const refused = pathProblem(path, this.#mapping);
    if (refused !== undefined) return `is not overridable: ${refused}`;
    if (this.#values.some((other) => other.path === path)) return "is given twice, once with dots in its name";
    const isKept = value !== null && scalarOf(JSON.stringify(value)) === value;
    if (!isKept) return "must be a text, a number that keeps all its digits, or true or false";
    if (JSON.stringify(value).length > VALUE_MAX_LENGTH) return `may have ${VALUE_MAX_LENGTH} characters at most`;
    return undefined;
  }

  result(): Overrides {
    const values = this.#values.length > 0 ? { values: this.#values } : {};
    const overrides = { ...this.#components, ...values };
    return {
      ...(Object.keys(overrides).length > 0 ? { overrides } : {}),
      provided: new Map([...this.#provided].map(([name, value]) => [name, new Sensitive(value)])),
      references: this.#references,
      violations: this.#violations,
    };
  }
}
