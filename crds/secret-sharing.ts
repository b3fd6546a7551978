/** Which secrets of the secret manager the settings share with the environments of which groups. */
import { type Static, Type } from "typebox";
import { closed, SECRET_ID_PATTERN } from "./schema.ts";

const Groups = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1 });

/** Secrets, named by their ids or by labels that they carry all, for the environments of any of the groups. */
export const SharingRule = closed({
  ids: Type.Array(Type.String({ minLength: 1, maxLength: 255, pattern: SECRET_ID_PATTERN }), { default: [] }),
  labels: Type.Record(Type.String(), Type.String(), {
    default: {},
    description: "In the spelling of the secret manager; a secret must carry all of them.",
  }),
  groups: Groups,
});
export type SharingRule = Static<typeof SharingRule>;

/** What the settings say of secrets that no environment owns. */
export interface Sharing {
  readonly shared: readonly SharingRule[];
  readonly hostCredentials: readonly { readonly id: string }[];
}

/**
 * Whether a secret that no environment owns is shared with an environment of these groups; never one that is a credential of hosts, whatever
 * its labels are.
 *
 * @param labelsOf the secret's labels, `undefined` when there is no such secret; asked only where some rule for these
 *   groups goes by labels, so that nothing is looked up for those whom nothing is shared with
 */
export async function isSharedWith(
  { shared, hostCredentials }: Sharing,
  groups: readonly string[],
  secret: { readonly id: string; readonly labelsOf: () => Promise<Readonly<Record<string, string>> | undefined> },
): Promise<boolean> {
  if (hostCredentials.some(({ id }) => id === secret.id)) return false;
  const theirs = shared.filter((rule) => rule.groups.some((group) => groups.includes(group)));
  if (theirs.some(({ ids }) => ids.includes(secret.id))) return true;
  // A rule without labels would otherwise hold for every secret there is.
  const byLabels = theirs.map(({ labels }) => Object.entries(labels)).filter((wanted) => wanted.length > 0);
  if (byLabels.length === 0) return false;
  const labels = (await secret.labelsOf()) ?? {};
  return byLabels.some((wanted) =>
    wanted.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value),
  );
}
