/** Settings that share secrets with the environments of groups. */
import { type Static, Type } from "typebox";
import type { SecretRef } from "./overrides.schema.ts";
import type { Repository } from "./repository/repository.ts";
import { closed, SECRET_ID_PATTERN } from "./schema.ts";

/** Shares secrets, by id or labels, with the environments of any of the groups. */
export const SharingRule = closed({
  ids: Type.Array(Type.String({ minLength: 1, maxLength: 255, pattern: SECRET_ID_PATTERN }), {
    default: [],
    description: "The ids of the secrets.",
  }),
  labels: Type.Record(Type.String(), Type.String(), {
    default: {},
    description: "As the secret manager spells them; a secret must have all of them.",
  }),
  groups: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    description: "The groups whose environments may refer to them.",
  }),
});
export type SharingRule = Static<typeof SharingRule>;

type Ref = Pick<SecretRef, "name">;

/** Settings that name credentials of the platform. */
export interface PlatformCredentials {
  readonly secrets: { readonly hostCredentials: readonly { readonly id: string }[] };
  readonly console?: { readonly clientSecret?: Ref };
  readonly hosts: readonly { readonly token?: Ref }[];
  readonly defaultChart?: { readonly credentialsRef?: Ref };
  readonly webhooks: { readonly secrets: readonly Ref[]; readonly pipelineTokens: readonly Ref[] };
  readonly notifications: {
    readonly chat: { readonly webhooks: readonly { readonly urlRef: Ref }[] };
    readonly email?: { readonly smtp: { readonly passwordRef?: Ref } };
  };
}

/**
 * Ids of the secrets that the settings use as credentials of the console, hosts and messages, and as keys of webhooks.
 */
export function credentialIds({
  secrets,
  console,
  hosts,
  defaultChart,
  webhooks,
  notifications,
}: PlatformCredentials): ReadonlySet<string> {
  const refs = [
    console?.clientSecret,
    ...hosts.map(({ token }) => token),
    defaultChart?.credentialsRef,
    ...webhooks.secrets,
    ...webhooks.pipelineTokens,
    ...notifications.chat.webhooks.map(({ urlRef }) => urlRef),
    notifications.email?.smtp.passwordRef,
  ];
  return new Set([...secrets.hostCredentials.map(({ id }) => id), ...namesOf(refs)]);
}

function isUsedBy({ spec }: Repository, id: string): boolean {
  const { credentialsRef, chart, imagePullSecretRef, webhookSecretRef, formerWebhookSecretRef } = spec;
  const refs = [credentialsRef, chart?.credentialsRef, imagePullSecretRef, webhookSecretRef, formerWebhookSecretRef];
  return namesOf(refs).includes(id);
}

const namesOf = (refs: readonly (Ref | undefined)[]) => refs.flatMap((ref) => (ref === undefined ? [] : [ref.name]));

/** Facts that decide about sharing secrets without an owner. */
export interface Sharing {
  readonly settings: PlatformCredentials & { readonly secrets: { readonly shared: readonly SharingRule[] } };
  readonly repositories: { list(): readonly Repository[] };
}

/**
 * True when a secret that no environment owns is shared with an environment of these groups. A credential of the
 * platform, in the settings or of a Repository, never is, whatever its labels: an environment could send it anywhere.
 *
 * @param labelsOf reads the secret's labels, `undefined` for a missing one; called only if a rule for these groups
 * selects by labels
 */
export async function isSharedWith(
  { settings, repositories }: Sharing,
  groups: readonly string[],
  {
    id,
    labelsOf,
  }: {
    readonly id: string;
    readonly labelsOf: () => Promise<Readonly<Record<string, string>> | undefined>;
  },
): Promise<boolean> {
  const theirs = settings.secrets.shared.filter((rule) => rule.groups.some((group) => groups.includes(group)));
  if (theirs.length === 0) return false;
  if (credentialIds(settings).has(id) || repositories.list().some((one) => isUsedBy(one, id))) return false;
  if (theirs.some(({ ids }) => ids.includes(id))) return true;
  // A rule without labels would otherwise match every secret.
  const byLabels = theirs.map(({ labels }) => Object.entries(labels)).filter((required) => required.length > 0);
  if (byLabels.length === 0) return false;
  const labels = (await labelsOf()) ?? {};
  return byLabels.some((required) =>
    required.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value),
  );
}
