import type { Settings } from "../../config/settings.ts";
import type { SecretRef } from "../../crds/overrides.schema.ts";
import { OCI_SCHEME } from "../../crds/repository/chart-source.ts";
import { type Chart, imagePlace, type Repository } from "../../crds/repository/repository.ts";
import { textOf } from "../../crds/secret-text.ts";
import type { Sensitive } from "../../crds/sensitive.ts";
import type { SecretReader } from "../ports/secret-manager.ts";

/** Store of credentials, and the settings that bind them to hosts. */
export interface CredentialSource {
  readonly settings: Settings;
  readonly secretManager: SecretReader;
}

/** A Repository's credential can't be used; `reason` is that of a condition, and the message names the remedy. */
export class CredentialRefused extends Error {
  override readonly name = "CredentialRefused";
  readonly reason: "CredentialNotBound" | "CredentialNotFound" | "CredentialInvalid";

  constructor(reason: CredentialRefused["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Credential for a Repository's git host, as `user:password`; `undefined` without one.
 *
 * @throws CredentialRefused when the credential can't be used; SecretManagerUnavailable
 */
export function cloneCredential(repository: Repository, source: CredentialSource) {
  return credential(cloneRequest(repository), source);
}

/** Credential for the registry of a Repository's image; see `cloneCredential`. */
export function pullCredential(repository: Repository, source: CredentialSource) {
  return credential(pullRequest(repository), source);
}

/** Credential for the place of the chart that environments of these Repositories have; see `cloneCredential`. */
export function chartCredential(repositories: { readonly backend?: Repository }, source: CredentialSource) {
  return credential(chartRequest(repositories, source.settings), source);
}

/** True when the Repository names a credential that the settings do not bind to its host; reads nothing. */
export function namesUnbound(repository: Repository, settings: Settings): boolean {
  const requests = [cloneRequest(repository), pullRequest(repository), ownChartRequest(repository)];
  return requests.some((request) => request !== undefined && !isBound(request, settings));
}

interface CredentialRequest {
  readonly field: string;
  readonly ref: SecretRef;
  readonly host: string;
}

function cloneRequest({ metadata, spec }: Repository): CredentialRequest | undefined {
  const { cloneUrl, credentialsRef: ref } = spec;
  // An invalid URL has no host.
  if (ref === undefined || !URL.canParse(cloneUrl)) return undefined;
  return { field: `spec.credentialsRef of Repository '${metadata.name}'`, ref, host: new URL(cloneUrl).host };
}

function pullRequest(repository: Repository): CredentialRequest | undefined {
  const { imagePullSecretRef: ref } = repository.spec;
  if (ref === undefined) return undefined;
  const field = `spec.imagePullSecretRef of Repository '${repository.metadata.name}'`;
  return { field, ref, host: withoutDefaultPort(imagePlace(repository).registry) };
}

/** The settings name the credential of the default chart; they have to bind it to its host, too. */
function chartRequest(
  { backend }: { readonly backend?: Repository },
  { defaultChart }: Settings,
): CredentialRequest | undefined {
  if (backend?.spec.chart !== undefined) return ownChartRequest(backend);
  return placeRequest(defaultChart, "defaultChart.credentialsRef of the settings");
}

const ownChartRequest = ({ metadata, spec }: Repository) =>
  spec.chart && placeRequest(spec.chart, `spec.chart.credentialsRef of Repository '${metadata.name}'`);

function placeRequest({ repoUrl, credentialsRef: ref }: Chart, field: string): CredentialRequest | undefined {
  // Of a scheme that it does not know, a URL keeps the default port.
  const url = repoUrl.replace(OCI_SCHEME, "https://");
  return ref === undefined || !URL.canParse(url) ? undefined : { field, ref, host: new URL(url).host };
}

/** An image may name the default port of registries. */
function withoutDefaultPort(registry: string): string {
  const url = `https://${registry}`;
  return URL.canParse(url) ? new URL(url).host : registry;
}

/** A credential not bound to the host is never read. */
async function credential(
  request: CredentialRequest | undefined,
  { settings, secretManager }: CredentialSource,
): Promise<Sensitive | undefined> {
  if (request === undefined) return undefined;
  const { field, ref, host } = request;
  const { name, key } = ref;
  if (!isBound(request, settings)) {
    const remedy = `add the host to it in secrets.hostCredentials, or name a credential of ${host}`;
    const message = `${field}: the settings bind no credential '${name}' to ${host}: ${remedy}`;
    throw new CredentialRefused("CredentialNotBound", message);
  }
  const value = await textOf(ref, secretManager);
  if (value === undefined) {
    const message = `${field}: the secret manager has no '${name}@${key}': create it, or name another one`;
    throw new CredentialRefused("CredentialNotFound", message);
  }
  if (!/^[^\r\n:]*:[^\r\n]*$/.test(value.reveal())) {
    throw new CredentialRefused("CredentialInvalid", `${field}: '${name}@${key}' is not user:password in one line`);
  }
  return value;
}

function isBound({ ref, host }: CredentialRequest, { secrets }: Settings): boolean {
  return secrets.hostCredentials.some(({ id, hosts }) => id === ref.name && hosts.includes(host));
}
