import type {
  ComponentOverrides,
  EnvironmentSpec,
  EnvironmentVariable,
  SecretRef,
  ValueOverride,
} from "../../../crds/environment/ephemeral-environment.schema.ts";
import { ConfigInvalid, type Violation } from "../../../crds/errors.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import { isOverridable, neededSecrets, type Repository } from "../../../crds/repository/repository.ts";
import { scalarOf } from "../../../crds/scalar.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { MAX_FINDINGS } from "../../input/validation.ts";
import type { ComponentOverridesRequest, ConfigOverrides } from "../../schemas/config-overrides.ts";

const VALUE_MAX_LENGTH = 4096;

/** A variable whose value the secret manager has already. */
export interface ReferredVariable extends SecretRef {
  readonly variable: string;
  /** Where in the request it stands. */
  readonly field: string;
}

/** What a request's overrides come to. */
export interface Overrides {
  /** Absent when nothing is left that may be seen. */
  readonly overrides?: NonNullable<EnvironmentSpec["overrides"]>;
  /** Values of secret variables: for the secret manager, and never for the resource. */
  readonly provided: ReadonlyMap<string, Sensitive>;
  readonly references: readonly ReferredVariable[];
  readonly violations: readonly Violation[];
}

/**
 * Takes a request's `config_overrides` apart: what the resource may say, what only the secret manager may know, and
 * what is wrong, each with its path. The schema has been checked before. With a database, its password is a
 * secret, whatever the Repositories list.
 */
export function readOverrides(
  request: ConfigOverrides | undefined,
  repositories: { readonly [component in Component]?: Repository },
  hasDatabase: boolean,
): Overrides {
  const reading = new Reading(Object.values(repositories), hasDatabase);
  for (const component of COMPONENTS) {
    const given = request?.helm_values?.[component];
    if (given === undefined) continue;
    const field = `config_overrides.helm_values.${component}`;
    if (repositories[component] === undefined) reading.violate(field, `needs ${component}_repo`);
    else reading.take(component, given, field);
  }
  return reading.result();
}

/**
 * The values that a request gives for variables of which it is known that they are secrets.
 *
 * @throws ConfigInvalid when one has none
 */
export function givenValues(
  request: ConfigOverrides | undefined,
  variables: readonly string[],
): ReadonlyMap<string, Sensitive> {
  const given = new Map(
    COMPONENTS.flatMap((component) => Object.entries(request?.helm_values?.[component]?.env ?? {})),
  );
  const values = variables.map((name) => {
    const value = given.get(name);
    if (typeof value === "string" && value !== "") return [name, new Sensitive(value)] as const;
    throw new ConfigInvalid([{ field: "config_overrides", message: `must give ${name}: it is a secret` }]);
  });
  return new Map(values);
}

class Reading {
  readonly #repositories: readonly Repository[];
  readonly #secret: ReadonlySet<string>;
  readonly #components: { [component in Component]?: ComponentOverrides } = {};
  readonly #values: ValueOverride[] = [];
  readonly #provided = new Map<string, string>();
  readonly #references: ReferredVariable[] = [];
  readonly #violations: Violation[] = [];

  constructor(repositories: readonly Repository[], hasDatabase: boolean) {
    this.#repositories = repositories;
    this.#secret = new Set(neededSecrets(repositories, hasDatabase).map(({ name }) => name));
  }

  violate(field: string, message: string): void {
    if (this.#violations.length < MAX_FINDINGS) this.#violations.push({ field, message });
  }

  take(component: Component, { env, replicas, resources, ...others }: ComponentOverridesRequest, field: string): void {
    const variables = Object.entries(env ?? {}).flatMap(([name, value]) =>
      this.#variable(name, value, `${field}.env.${name}`),
    );
    const overrides: ComponentOverrides = {
      ...(variables.length > 0 ? { env: variables } : {}),
      ...(replicas === undefined ? {} : { replicas }),
      ...(resources === undefined ? {} : { resources }),
    };
    if (Object.keys(overrides).length > 0) this.#components[component] = overrides;
    for (const [name, value] of Object.entries(others)) this.#value(`${component}.${name}`, value);
  }

  /** What the resource says of a variable: nothing at all of one whose value is a secret. */
  #variable(
    name: string,
    value: string | { readonly secretKeyRef: SecretRef },
    field: string,
  ): readonly EnvironmentVariable[] {
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
    if (!isOne) this.violate(field, `${name} has one value for all components, and another is asked for elsewhere`);
  }

  /** Any other value of the chart, down to its scalars. */
  #value(path: string, value: unknown): void {
    if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
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
