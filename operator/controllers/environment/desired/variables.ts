import type { ConfigSetSpec } from "../../../../crds/config-set.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { type GivenVariable, givenVariables } from "../../../../crds/environment/given-variables.ts";
import { COMPONENTS, type Component } from "../../../../crds/names.ts";
import { oncePer } from "../../../../crds/once-per.ts";
import type { EnvironmentVariable, SecretRef } from "../../../../crds/overrides.schema.ts";
import { wantedSecrets } from "../../../../crds/repository/repository.ts";
import { type BackingService, wantedServices } from "../backing-services/backing-service.ts";
import type { PlanInput } from "../plan-input.ts";
import type { ComponentRepositories } from "../repositories.ts";

/** A plain variable; its value reaches the process byte for byte. */
export interface PlainVariable {
  readonly name: string;
  readonly value: string;
}

/** A reference to a secret, with its origin. */
export interface Reference extends SecretRef {
  readonly origin: "shared" | "config_set" | "override";
}

/** Users' variables for an environment's pods, without generated ones; sorted by name. */
export interface Variables {
  readonly plain: { readonly [component in Component]?: readonly PlainVariable[] };
  /** Values of the secret manager for the one Secret of all components, by variable. */
  readonly references: ReadonlyMap<string, Reference>;
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
  const listed = Object.values(input.repositories).flatMap(wantedSecrets);
  const needed = [
    ...listed.filter(({ name }) => former?.has(name) ?? true),
    ...wantedServices(input).flatMap(({ secrets }) => secrets),
  ];
  return new Set([...needed.map(({ name }) => name), ...(spec.secrets?.provided ?? [])]);
}

function referencesOf(
  given: readonly GivenVariable[],
  shared: NonNullable<ConfigSetSpec["sharedApiKeys"]>,
): ReadonlyMap<string, Reference> {
  const references = new Map<string, Reference>();
  for (const { name, secretRef } of shared) references.set(name, { ...secretRef, origin: "shared" });
  for (const { name, secretRef, origin } of given) if (secretRef) references.set(name, { ...secretRef, origin });
  return new Map([...references].sort(([one], [other]) => compare(one, other)));
}

const plainVariable = ({ name, value = "" }: EnvironmentVariable): PlainVariable => ({ name, value });

function contradicts({ name, secretRef }: EnvironmentVariable, references: ReadonlyMap<string, SecretRef>): boolean {
  const chosen = references.get(name);
  return secretRef !== undefined && (secretRef.name !== chosen?.name || secretRef.key !== chosen.key);
}

/** Compares by code units, equal on every machine. */
const compare = (one: string, other: string) => (one < other ? -1 : Number(one > other));

const ordered = (variables: readonly GivenVariable[]) =>
  variables.toSorted((one, other) => compare(one.name, other.name));

const names = (variables: readonly GivenVariable[]) => [...new Set(variables.map(({ name }) => name))].sort(compare);

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
    ...Object.values(repositories).flatMap(wantedSecrets),
  ];
  return [...new Set([...generated.map(({ name }) => name), ...(spec.secrets?.provided ?? [])])];
}
