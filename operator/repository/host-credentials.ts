import type { Settings } from "../../config/settings.ts";
import type { SecretRef } from "../../crds/environment/ephemeral-environment.schema.ts";
import { imagePlace, type Repository } from "../../crds/repository/repository.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import type { SecretManager } from "../ports/secret-manager.ts";

/** What decides about credentials, and keeps them. */
export interface CredentialSource {
  readonly settings: Settings;
  readonly secretManager: Pick<SecretManager, "read">;
}

/** A credential that a Repository names can't be used; the reason is a condition's, and the message says what to do. */
export class CredentialRefused extends Error {
  override readonly name = "CredentialRefused";
  readonly reason: "CredentialNotBound" | "CredentialNotFound" | "CredentialInvalid";

  constructor(reason: CredentialRefused["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * What a Repository's git host is to be asked with, as `user:password`; `undefined` where everybody may ask.
 *
 * @throws CredentialRefused when it names a credential that can't be used; SecretManagerUnavailable
 */
export async function cloneCredential(repository: Repository, vault: CredentialSource): Promise<Sensitive | undefined> {
  const wish = cloneWish(repository);
  return wish && credential(wish, vault);
}

/**
 * What the registry of a Repository's image is to be asked with, as `user:password`; `undefined` where everybody may pull.
 *
 * @throws as `cloneCredential` does
 */
export async function pullCredential(repository: Repository, vault: CredentialSource): Promise<Sensitive | undefined> {
  const wish = pullWish(repository);
  return wish && credential(wish, vault);
}

/** Whether it names a credential that the settings bind to another host, or to none; nobody is asked. */
export function namesUnbound(repository: Repository, settings: Settings): boolean {
  const wishes = [cloneWish(repository), pullWish(repository)];
  return wishes.some((wish) => wish !== undefined && !isBound(wish, settings));
}

function cloneWish({ metadata, spec }: Repository): Wish | undefined {
  const { cloneUrl, credentialsRef: ref } = spec;
  // Nobody can be asked at what is no URL.
  if (ref === undefined || !URL.canParse(cloneUrl)) return undefined;
  return { field: `spec.credentialsRef of Repository '${metadata.name}'`, ref, host: new URL(cloneUrl).host };
}

function pullWish(repository: Repository): Wish | undefined {
  const { imagePullSecretRef: ref } = repository.spec;
  if (ref === undefined) return undefined;
  const field = `spec.imagePullSecretRef of Repository '${repository.metadata.name}'`;
  return { field, ref, host: plainHost(imagePlace(repository).registry) };
}

/** An image may say the port that registries have anyway. */
function plainHost(registry: string): string {
  const url = `https://${registry}`;
  return URL.canParse(url) ? new URL(url).host : registry;
}

interface Wish {
  /** Who asks, for people. */
  readonly field: string;
  readonly ref: SecretRef;
  readonly host: string;
}

/** Judged before it is read: what is not bound to the host is never fetched for it. */
async function credential(wish: Wish, vault: CredentialSource): Promise<Sensitive> {
  const { field, ref, host } = wish;
  const { name, key } = ref;
  if (!isBound(wish, vault.settings)) {
    const remedy = `add the host to it in secrets.hostCredentials, or name a credential of ${host}`;
    throw new CredentialRefused(
      "CredentialNotBound",
      `${field}: the settings bind no credential '${name}' to ${host}: ${remedy}`,
    );
  }
  const stored = await vault.secretManager.read(name, key === "latest" ? key : Number(key));
  if (stored === undefined) {
    const remedy = "write it there, or name another one";
    throw new CredentialRefused(
      "CredentialNotFound",
      `${field}: the secret manager has no '${name}@${key}': ${remedy}`,
    );
  }
  // Editors and shells end a line.
  const value = stored.value.reveal().replace(/\r?\n$/, "");
  if (!/^[^\r\n:]*:[^\r\n]*$/.test(value)) {
    throw new CredentialRefused("CredentialInvalid", `${field}: '${name}@${key}' is not user:password in one line`);
  }
  return new Sensitive(value);
}

function isBound({ ref, host }: Wish, { secrets }: Settings): boolean {
  return secrets.hostCredentials.some(({ id, hosts }) => id === ref.name && hosts.includes(host));
}
