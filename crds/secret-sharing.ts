/** The rules of the settings that share secrets with the environments of groups. */
import { type Static, Type } from "typebox";
import { closed, SECRET_ID_PATTERN } from "./schema.ts";

/** Shares secrets, selected by id or by labels, with the environments of any of the groups. */
export const SharingRule = closed({
  ids: Type.Array(Type.String({ minLength: 1, maxLength: 255, pattern: SECRET_ID_PATTERN }), { default: [] }),
  labels: Type.Record(Type.String(), Type.String(), {
    default: {},
    description: "As the secret manager spells them; a secret must have all of them.",
  }),
  groups: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1 }),
});
export type SharingRule = Static<typeof SharingRule>;

/** The settings for secrets that no environment owns. */
export interface Sharing {
  readonly shared: readonly SharingRule[];
  readonly hostCredentials: readonly { readonly id: string }[];
}

/**
 * Whether a secret that no environment owns is shared with an environment of these groups; a credential of hosts never is,
 * whatever its labels are.
 *
 * @param labelsOf reads the secret's labels, `undefined` when there is no such secret; called only if a rule for these
 *   groups selects by labels
 */
export async function isSharedWith(
  { shared, hostCredentials }: Sharing,
  groups: readonly string[],
  secret: { readonly id: string; readonly labelsOf: () => Promise<Readonly<Record<string, string>> | undefined> },
): Promise<boolean> {
  if (hostCredentials.some(({ id }) => id === secret.id)) return false;
  const theirs = shared.filter((rule) => rule.groups.some((group) => groups.includes(group)));
  if (theirs.some(({ ids }) => ids.includes(secret.id))) return true;
  // A rule without labels would otherwise match every secret.
  const byLabels = theirs.map(({ labels }) => Object.entries(labels)).filter((wanted) => wanted.length > 0);
  if (byLabels.length === 0) return false;
  const labels = (await secret.labelsOf()) ?? {};
  return byLabels.some((wanted) =>
    wanted.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value),
  );
}
