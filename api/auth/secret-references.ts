import type { ConfigSet } from "../../crds/config-set.ts";
import { givenVariables } from "../../crds/environment/given-variables.ts";
import { SecretsUnavailable, type Violation } from "../../crds/errors.ts";
import type { Component } from "../../crds/names.ts";
import { admits } from "../../crds/repository/repository.ts";
import { isSharedWith } from "../../crds/secret-sharing.ts";
import type { Overrides, ReferredVariable } from "../environments/creation/overrides.ts";
import { HttpError } from "../errors.ts";
import type { Services } from "../services.ts";
import type { Caller } from "./callers.ts";

interface Judgement {
  /** What refers to the secrets, by its kind and name: for the log. */
  readonly referrer: Readonly<Record<string, string>>;
  /** A secret has to be shared with one of them. */
  readonly groups: readonly string[];
  readonly caller: Caller;
  readonly services: Pick<Services, "settings" | "secretManager" | "log">;
}

/**
 * The groups that an environment and its maker have in common. What is shared with others that may use the
 * Repository is not for this maker, and what is shared with other groups of the maker's not for this environment.
 */
export function commonGroups(groups: readonly string[], caller: Pick<Caller, "groups">): string[] {
  return groups.filter((group) => caller.groups.includes(group));
}

/**
 * The references that the settings don't allow to these groups. What is absent and what is somebody
 * else's look alike, no value is read, and every refusal is logged.
 *
 * @throws SecretsUnavailable when a secret's labels can't be asked for
 */
export async function refusedReferences(
  references: readonly ReferredVariable[],
  judgement: Judgement,
): Promise<Violation[]> {
  const judged = await Promise.all(references.map((reference) => judge(reference, judgement)));
  return judged.flat();
}

async function judge({ variable, name, field }: ReferredVariable, judgement: Judgement): Promise<Violation[]> {
  if (await isShared(variable, name, judgement)) return [];
  return [
    { field, message: "names no secret that is shared with a group that this environment and you have in common" },
  ];
}

/**
 * What is wrong with a config set that reads secrets that are not shared with these groups, as far as the environment
 * would have them: what an override or a provided value replaces is not read.
 *
 * @throws SecretsUnavailable when a secret's labels can't be asked for
 */
export async function refusedConfigSet(
  configSet: ConfigSet | undefined,
  { components, overrides, provided }: Replacing,
  judgement: Judgement,
): Promise<Violation[]> {
  const read = components
    .flatMap((component) => givenVariables(component, overrides, configSet?.spec))
    .filter(({ name, origin }) => origin === "config_set" && !provided.has(name));
  const references = read.flatMap(({ name, secretRef }) =>
    secretRef === undefined ? [] : [{ ...secretRef, variable: name, field: name }],
  );
  const refused = await refusedReferences(references, judgement);
  if (configSet === undefined || refused.length === 0) return [];
  const names = [...new Set(refused.map(({ field }) => field))].join(", ");
  const message = `config set '${configSet.metadata.name}' reads ${names} from secrets that are not shared with a group that this environment and you have in common: name another one, or give them in config_overrides`;
  return [{ field: "config_set", message }];
}

/** What an environment has of its own, before what its config set says. */
interface Replacing extends Pick<Overrides, "overrides" | "provided"> {
  readonly components: readonly Component[];
}

/**
 * Shared API keys are for environments whose maker and groups have a group in common with the config set, and with
 * those whom the settings share every one of the keys with.
 *
 * @throws HttpError (forbidden), SecretsUnavailable when a secret's labels can't be asked for
 */
export async function checkSharedKeys(configSet: ConfigSet | undefined, judgement: Judgement): Promise<void> {
  const keys = configSet?.spec.sharedApiKeys ?? [];
  const isAdmitted = configSet !== undefined && admits(configSet, judgement.groups);
  const shared = await Promise.all(keys.map(({ name, secretRef }) => isShared(name, secretRef.name, judgement)));
  if (isAdmitted && shared.every(Boolean)) return;
  throw new HttpError(
    "forbidden",
    "The environment and you have no group in common with those that share the API keys",
  );
}

async function isShared(variable: string, id: string, judgement: Judgement): Promise<boolean> {
  const { referrer, groups, caller, services } = judgement;
  const { settings, secretManager, log } = services;
  const labelsOf = async () => (await secretManager.shared(id).catch(unavailable))?.labels;
  const isAllowed = await isSharedWith(settings.secrets, groups, { id, labelsOf });
  const facts = { subject: caller.subject, ...referrer };
  if (!isAllowed) log.warn("a reference to a secret was refused", { ...facts, variable, secret: id });
  return isAllowed;
}

function unavailable(cause: unknown): never {
  throw new SecretsUnavailable({ cause });
}
