import type { Settings } from "../../../config/settings.ts";
import type { RepositoryHostSettings } from "../../../config/webhooks.schema.ts";
import type { SecretRef } from "../../../crds/overrides.schema.ts";
import { hostOf, type Repository } from "../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { HookProblem } from "../../ports/api/webhook-registrar.ts";
import { type SecretManager, SecretManagerUnavailable, textOf } from "../../ports/secret-manager.ts";
import { isLongKey, KEY_MIN_BYTES } from "../../webhooks/webhook-keys.ts";

const PATH = "/api/webhooks/repohost";

/** Prerequisites of a hook. */
export interface Prerequisites {
  readonly host?: RepositoryHostSettings;
  /** Expected address of hooks. */
  readonly address?: string;
  /** Signing key of deliveries from now on. */
  readonly key?: Sensitive;
  readonly problems: readonly HookProblem[];
}

export interface PrerequisitesContext {
  readonly settings: Pick<Settings, "hosts" | "webhooks" | "publicUrl">;
  readonly secretManager: Pick<SecretManager, "read">;
}

/** Prerequisites of a Repository's hook, without asking its host. */
export async function prerequisitesOf(repository: Repository, context: PrerequisitesContext): Promise<Prerequisites> {
  const host = hostWithToken(repository, context);
  const address = addressOf(context.settings);
  const key = await keyOf(repository, context);
  const found = [host, address, key];
  return {
    ...("reason" in host ? {} : { host }),
    ...(typeof address === "string" ? { address } : {}),
    ...("reason" in key ? {} : { key }),
    problems: found.filter((one) => typeof one === "object" && "reason" in one),
  };
}

function hostWithToken(
  { metadata, spec }: Repository,
  { settings }: PrerequisitesContext,
): RepositoryHostSettings | HookProblem {
  if (spec.host === undefined) {
    const message = `Repository '${metadata.name}' names no host, so its hooks can't be asked for`;
    return { reason: "NoHost", message, remedy: "Set spec.host to the id of a host in the settings (hosts)." };
  }
  const host = hostOf(spec, settings);
  if (host === undefined) {
    const message = `the settings have no host '${spec.host}'`;
    return { reason: "HostUnknown", message, remedy: "Add it to hosts in the settings, or correct spec.host." };
  }
  if (host.token !== undefined) return host;
  const remedy = `Set token of host '${host.id}' in the settings (hosts).`;
  return { reason: "TokenMissing", message: `the settings have no token of host '${host.id}'`, remedy };
}

function addressOf({ publicUrl }: PrerequisitesContext["settings"]): string | HookProblem {
  if (publicUrl !== undefined) return `${publicUrl.replace(/\/+$/, "")}${PATH}`;
  const message = "the settings don't say where the platform is";
  return { reason: "AddressUnknown", message, remedy: "Set publicUrl in the settings." };
}

/** The first key signs; a second one is accepted too. */
async function keyOf(
  { metadata, spec }: Repository,
  { settings, secretManager }: PrerequisitesContext,
): Promise<Sensitive | HookProblem> {
  const ref = spec.webhookSecretRef ?? settings.webhooks.secrets[0];
  if (ref === undefined) {
    const message = `no key signs the webhooks of Repository '${metadata.name}'`;
    const remedy = "Set spec.webhookSecretRef of the Repository, or webhooks.secrets in the settings.";
    return { reason: "KeyMissing", message, remedy };
  }
  try {
    const key = await textOf(ref, secretManager);
    if (key !== undefined && isLongKey(key)) return key;
    return badKey(ref, key === undefined ? "does not exist" : `has fewer than ${KEY_MIN_BYTES} bytes`);
  } catch (error) {
    if (!(error instanceof SecretManagerUnavailable)) throw error;
    return { reason: "KeyUnreadable", message: error.message, remedy: "Try again when the secret manager answers." };
  }
}

function badKey({ name, key }: SecretRef, what: string): HookProblem {
  const remedy = `Store a random value of ${KEY_MIN_BYTES} bytes or more there.`;
  return { reason: "KeyMissing", message: `the key '${name}@${key}' ${what}`, remedy };
}
