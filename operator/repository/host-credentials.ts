import type { Settings } from "../../config/settings.ts";
import type { SecretRef } from "../../crds/ephemeral-environment.schema.ts";
import { imagePlace, type Repository } from "../../crds/repository.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import type { Clock } from "../kit/clock.ts";
import type { SecretManager, StoredSecret } from "../ports/secret-manager.ts";

/** What decides about credentials, and keeps them. */
export interface Vault {
  readonly settings: Settings;
  readonly secretManager: Pick<SecretManager, "read">;
  readonly clock: Pick<Clock, "monotonicMs">;
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
export async function cloneCredential({ metadata, spec }: Repository, vault: Vault): Promise<Sensitive | undefined> {
  const { cloneUrl, credentialsRef: ref } = spec;
  // Nobody can be asked at what is no URL.
  if (ref === undefined || !URL.canParse(cloneUrl)) return undefined;
  const field = `spec.credentialsRef of Repository '${metadata.name}'`;
  return credential({ field, ref, host: new URL(cloneUrl).host }, vault);
}

/**
 * What the registry of a Repository's image is to be asked with, as `user:password`; `undefined` where everybody may pull.
 *
 * @throws as `cloneCredential` does
 */
export async function pullCredential(repository: Repository, vault: Vault): Promise<Sensitive | undefined> {
  const { imagePullSecretRef: ref } = repository.spec;
  if (ref === undefined) return undefined;
  const field = `spec.imagePullSecretRef of Repository '${repository.metadata.name}'`;
  return credential({ field, ref, host: plainHost(imagePlace(repository).registry) }, vault);
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
async function credential({ field, ref, host }: Wish, vault: Vault): Promise<Sensitive> {
  const { name, key } = ref;
  const isBound = vault.settings.secrets.hostCredentials.some(({ id, hosts }) => id === name && hosts.includes(host));
  if (!isBound) {
    const remedy = `add the host to it in secrets.hostCredentials, or name a credential of ${host}`;
    throw new CredentialRefused(
      "CredentialNotBound",
      `${field}: the settings bind no credential '${name}' to ${host}: ${remedy}`,
    );
  }
  const stored = await read(ref, vault);
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

/** Thousands of environments want the same one, and secret managers count reads: an answer holds for a moment. */
const FRESH_MS = 5_000;

interface Answer {
  readonly atMs: number;
  readonly stored: Promise<StoredSecret | undefined>;
}

const answers = new WeakMap<Vault["secretManager"], Map<string, Answer>>();

function read({ name, key }: SecretRef, { secretManager, clock }: Vault): Promise<StoredSecret | undefined> {
  const known = answers.get(secretManager) ?? new Map<string, Answer>();
  answers.set(secretManager, known);
  const source = `${name}@${key}`;
  const atMs = clock.monotonicMs();
  const former = known.get(source);
  if (former !== undefined && atMs - former.atMs < FRESH_MS) return former.stored;
  const answer = { atMs, stored: secretManager.read(name, key === "latest" ? key : Number(key)) };
  known.set(source, answer);
  // What is not there may be written at any moment, and a failure is no answer.
  const forget = () => known.get(source) === answer && known.delete(source);
  answer.stored.then((stored) => stored ?? forget(), forget);
  return answer.stored;
}
