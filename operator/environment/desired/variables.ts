import type { ConfigSetSpec } from "../../../crds/config-set.ts";
import type { EnvironmentVariable, SecretRef } from "../../../crds/environment/ephemeral-environment.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { type GivenVariable, givenVariables } from "../../../crds/environment/given-variables.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import { neededSecrets, type Repository } from "../../../crds/repository/repository.ts";
import { wantsDatabase } from "./database.ts";

/** A variable that is no secret; its value reaches the process byte for byte. */
export interface PlainVariable {
  readonly name: string;
  readonly value: string;
}

/** Where a variable's value is to be read from, and who says so. */
export interface Reference extends SecretRef {
  readonly origin: "shared" | "config_set" | "override";
}

/** The variables that people set for an environment's pods, beside what is generated; everything in the order of names. */
export interface Variables {
  readonly plain: { readonly [component in Component]?: readonly PlainVariable[] };
  /** What is read from the secret manager into the one Secret that all components see, by variable. */
  readonly references: ReadonlyMap<string, Reference>;
  /** Secret variables that somebody gave a plain value; they are left out of `plain`. */
  readonly inPlainText: readonly string[];
  /** Variables that two components want from different places, although there is one value for both. */
  readonly contradictory: readonly string[];
}

type ComponentRepositories = { readonly [component in Component]?: Repository };

/** Which variables the pods get, and from where. A shared API key yields to everything else that is given. */
export function variablesOf(
  environment: EphemeralEnvironment,
  repositories: ComponentRepositories,
  configSet?: ConfigSetSpec,
): Variables {
  const secret = secretVariables(environment, repositories, configSet);
  const given = COMPONENTS.filter((component) => environment.spec[component] !== undefined).map(
    (component) => [component, ordered(givenVariables(component, environment.spec.overrides, configSet))] as const,
  );
  const all = given.flatMap(([, variables]) => variables);
  const { sharedApiKeys = [] } = environment.spec.secrets?.useSharedApiKeys ? (configSet ?? {}) : {};
  const isGiven = (name: string) => given.every(([, variables]) => variables.some((one) => one.name === name));
  const references = referencesOf(
    all,
    sharedApiKeys.filter(({ name }) => !isGiven(name)),
  );
  const plain = given.map(([component, variables]) => [
    component,
    variables.filter(({ name, secretRef }) => secretRef === undefined && !secret.has(name)).map(plainVariable),
  ]);
  return {
    plain: Object.fromEntries(plain),
    references,
    inPlainText: names(all.filter(({ name, secretRef }) => secretRef === undefined && secret.has(name))),
    contradictory: names(all.filter((variable) => contradicts(variable, references))),
  };
}

/**
 * The variables whose values must never be seen: what the Repositories listed when the environment was made, what
 * somebody promised to provide, and the password of a database. What is listed later may stand in the environment already.
 */
export function secretVariables(
  { spec, status }: EphemeralEnvironment,
  repositories: ComponentRepositories,
  configSet?: ConfigSetSpec,
): ReadonlySet<string> {
  const former = status?.secrets && new Set(status.secrets.map(({ name }) => name));
  const listed = neededSecrets(Object.values(repositories), false).filter(({ name }) => former?.has(name) ?? true);
  const needed = [...listed, ...neededSecrets([], wantsDatabase(spec, configSet))];
  return new Set([...needed.map(({ name }) => name), ...(spec.secrets?.provided ?? [])]);
}

function referencesOf(
  given: readonly GivenVariable[],
  shared: NonNullable<ConfigSetSpec["sharedApiKeys"]>,
): ReadonlyMap<string, Reference> {
  const references = new Map<string, Reference>();
  for (const { name, secretRef } of shared) references.set(name, { ...secretRef, origin: "shared" });
  for (const { name, secretRef, origin } of given) if (secretRef) references.set(name, { ...secretRef, origin });
  return new Map([...references].sort(([one], [other]) => inOrder(one, other)));
}

const plainVariable = ({ name, value = "" }: EnvironmentVariable): PlainVariable => ({ name, value });

function contradicts({ name, secretRef }: EnvironmentVariable, references: ReadonlyMap<string, SecretRef>): boolean {
  const chosen = references.get(name);
  return secretRef !== undefined && (secretRef.name !== chosen?.name || secretRef.key !== chosen.key);
}

/** By code units: the same on every machine. */
const inOrder = (one: string, other: string) => (one < other ? -1 : Number(one > other));

const ordered = (variables: readonly GivenVariable[]) =>
  variables.toSorted((one, other) => inOrder(one.name, other.name));

const names = (variables: readonly GivenVariable[]) => [...new Set(variables.map(({ name }) => name))].sort(inOrder);
