import type { ConfigSet } from "../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../crds/environment/ephemeral-environment.schema.ts";
import { givenVariables } from "../../crds/environment/given-variables.ts";
import { SecretsUnavailable, type Violation } from "../../crds/errors.ts";
import type { Component } from "../../crds/names.ts";
import type { SecretRef } from "../../crds/overrides.schema.ts";
import { admits } from "../../crds/repository/repository.ts";
import { isSharedWith } from "../../crds/secret-sharing.ts";
import { HttpError } from "../errors.ts";
import type { Services } from "../services.ts";
import type { Caller } from "./access.ts";

/** A variable that refers to a secret of the secret manager. */
export interface ReferredVariable extends SecretRef {
  readonly variable: string;
  /** Path of the secret's id in the request. */
  readonly field: string;
}

interface Referrer {
  /** Kind and name of the resource, for the log. */
  readonly referrer: Readonly<Record<string, string>>;
  /** A secret has to be shared with one of them. */
  readonly groups: readonly string[];
  readonly caller: Caller;
  readonly services: Pick<Services, "settings" | "repositories" | "secretManager" | "log">;
}

/**
 * Common groups of an environment and its creator. Secrets of other users of the Repository are not for this creator,
 * and those of the creator's other groups not for this environment.
 */
export function commonGroups(groups: readonly string[], caller: Caller): string[] {
  return groups.filter((group) => caller.groups.includes(group));
}

/**
 * Violations of references to secrets that are not shared with these groups. A missing secret and another's are refused
 * in the same words, no value is read, and every refusal is logged.
 *
 * @throws SecretsUnavailable when a secret's labels can't be read
 */
export async function unsharedReferences(
  references: readonly ReferredVariable[],
  referrer: Referrer,
): Promise<Violation[]> {
  const message = "names no secret that is shared with a group that this environment and you have in common";
  const violations = references.map(async ({ variable, name, field }) =>
    (await isShared(variable, name, referrer)) ? [] : [{ field, message }],
  );
  return (await Promise.all(violations)).flat();
}

interface OwnVariables {
  readonly components: readonly Component[];
  readonly overrides?: NonNullable<EnvironmentSpec["overrides"]>;
  readonly provided: Pick<ReadonlySet<string>, "has">;
}

/**
 * Problem of a config set with secrets that are not shared with these groups; a variable that an override or a provided
 * value replaces does not count.
 *
 * @throws SecretsUnavailable when a secret's labels can't be read
 */
export async function unsharedConfigSet(
  configSet: ConfigSet | undefined,
  { components, overrides, provided }: OwnVariables,
  referrer: Referrer,
): Promise<string | undefined> {
  const variables = components
    .flatMap((component) => givenVariables(component, overrides, configSet?.spec))
    .filter(({ name, origin }) => origin === "config_set" && !provided.has(name));
  const references = variables.flatMap(({ name, secretRef }) =>
    secretRef === undefined ? [] : [{ ...secretRef, variable: name, field: name }],
  );
  const unshared = await unsharedReferences(references, referrer);
  if (configSet === undefined || unshared.length === 0) return undefined;
  const names = [...new Set(unshared.map(({ field }) => field))].join(", ");
  return `config set '${configSet.metadata.name}' reads ${names} from secrets that are not shared with a group that this environment and you have in common`;
}

/**
 * Checks that the environment and its creator share a group with the config set, and with the sharing of each of its
 * API keys.
 *
 * @throws HttpError (forbidden), SecretsUnavailable when a secret's labels can't be read
 */
export async function checkSharedKeys(configSet: ConfigSet | undefined, referrer: Referrer): Promise<void> {
  const keys = configSet?.spec.sharedApiKeys ?? [];
  const isAdmitted = configSet !== undefined && admits(configSet, referrer.groups);
  const shared = await Promise.all(keys.map(({ name, secretRef }) => isShared(name, secretRef.name, referrer)));
  if (isAdmitted && shared.every(Boolean)) return;
  throw new HttpError(
    "forbidden",
    "The environment and you have no group in common with those that share the API keys",
  );
}

async function isShared(
  variable: string,
  id: string,
  { referrer, groups, caller, services }: Referrer,
): Promise<boolean> {
  const { secretManager, log } = services;
  const labelsOf = async () => (await secretManager.shared(id).catch(throwUnavailable))?.labels;
  const isAllowed = await isSharedWith(services, groups, { id, labelsOf });
  const facts = { subject: caller.subject, ...referrer, variable, secret: id };
  if (!isAllowed) log.warn("a reference to a secret was refused", facts);
  return isAllowed;
}

function throwUnavailable(cause: unknown): never {
  throw new SecretsUnavailable({ cause });
}
