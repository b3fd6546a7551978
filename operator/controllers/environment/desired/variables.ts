import type { ConfigSetSpec } from "../../../../crds/config-set.ts";
import { componentsOf, type EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { type GivenVariable, givenVariables } from "../../../../crds/environment/given-variables.ts";
import type { Component } from "../../../../crds/names.ts";
import { oncePer } from "../../../../crds/once-per.ts";
import type { EnvironmentVariable, SecretRef } from "../../../../crds/overrides.schema.ts";
import { generatedSecrets } from "../../../../crds/repository/repository.ts";
import type { BackingService } from "../backing-services/backing-service.ts";
import { desiredServices, type PlanInput } from "../plan-input.ts";
import type { ComponentRepositories } from "../repositories.ts";

/** A plain variable; its value reaches the process byte for byte. */
export interface PlainVariable {
  readonly name: string;
  readonly value: string;
}

/** A reference to a secret, with its origin. */
export interface SecretReference extends SecretRef {
  readonly origin: "shared" | "config_set" | "override";
}

/** Users' variables for an environment's pods, without generated ones; sorted by name. */
export interface Variables {
  readonly plain: { readonly [component in Component]?: readonly PlainVariable[] };
  /** Values of the secret manager for the one Secret of all components, by variable. */
  readonly references: ReadonlyMap<string, SecretReference>;
  /** Variables with secret values of any origin. */
  readonly secret: ReadonlySet<string>;
  /** Secret variables with a plain value; not in `plain`. */
  readonly inPlainText: readonly string[];
  /** Variables with one shared value that two components reference differently. */
  readonly contradictory: readonly string[];
}

/** Variables of the pods and their sources. Any other value wins over a shared API key. */
export const variablesOf = oncePer((input: PlanInput): Variables => {
  const { environment, configSet } = input;
  const secret = secretVariables(input);
  const given = componentsOf(environment).map((component) => {
    const variables = givenVariables(component, environment.spec.overrides, configSet);
    return [component, variables.toSorted((one, other) => (one.name < other.name ? -1 : 1))] as const;
  });
  const all = given.flatMap(([, variables]) => variables);
  const { sharedApiKeys = [] } = environment.spec.secrets?.useSharedApiKeys ? (configSet ?? {}) : {};
  const isGiven = (name: string) => given.every(([, variables]) => variables.some((one) => one.name === name));
  const missingApiKeys = sharedApiKeys.filter(({ name }) => !isGiven(name));
  const references = referencesOf(all, missingApiKeys);
  const plain = given.map(([component, variables]) => [
    component,
    variables.filter(({ name, secretRef }) => secretRef === undefined && !secret.has(name)).map(plainVariable),
  ]);
  return {
    plain: Object.fromEntries(plain),
    references,
    secret,
    inPlainText: names(all.filter(({ name, secretRef }) => secretRef === undefined && secret.has(name))),
    contradictory: names(all.filter((variable) => contradicts(variable, references))),
  };
});

/**
 * Variables with secret values: those that the Repositories listed at the environment's creation, those that users
 * provide, and those of its backing services. A variable listed later may already have a plain value.
 */
function secretVariables(input: PlanInput): ReadonlySet<string> {
  const { spec, status } = input.environment;
  const former = status?.secrets && new Set(status.secrets.map(({ name }) => name));
  const listed = Object.values(input.repositories).flatMap(generatedSecrets);
  const needed = [
    ...listed.filter(({ name }) => former?.has(name) ?? true),
    ...desiredServices(input).flatMap(({ secrets }) => secrets),
  ];
  return new Set([...needed.map(({ name }) => name), ...(spec.secrets?.provided ?? [])]);
}

function referencesOf(
  given: readonly GivenVariable[],
  shared: NonNullable<ConfigSetSpec["sharedApiKeys"]>,
): ReadonlyMap<string, SecretReference> {
  const references = new Map<string, SecretReference>();
  for (const { name, secretRef } of shared) references.set(name, { ...secretRef, origin: "shared" });
  for (const { name, secretRef, origin } of given) if (secretRef) references.set(name, { ...secretRef, origin });
  return new Map([...references].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const plainVariable = ({ name, value = "" }: EnvironmentVariable): PlainVariable => ({ name, value });

function contradicts({ name, secretRef }: EnvironmentVariable, references: ReadonlyMap<string, SecretRef>): boolean {
  const chosen = references.get(name);
  return secretRef !== undefined && (secretRef.name !== chosen?.name || secretRef.key !== chosen.key);
}

const names = (variables: readonly GivenVariable[]) => [...new Set(variables.map(({ name }) => name))].sort();

/**
 * Variables with possible values of the environment in the secret manager: those in the status, those that users
 * provide, and those that a reconcile may have generated before its status write.
 */
export function storedVariables(
  { spec, status }: EphemeralEnvironment,
  repositories: ComponentRepositories,
  services: readonly BackingService[],
): readonly string[] {
  const generated = [
    ...(status?.secrets ?? []),
    ...services.flatMap(({ secrets }) => secrets),
    ...Object.values(repositories).flatMap(generatedSecrets),
  ];
  return [...new Set([...generated.map(({ name }) => name), ...(spec.secrets?.provided ?? [])])];
}
