import type { SecretStatus } from "../../../crds/environment/ephemeral-environment.ts";
import type { WantedSecret } from "../../../crds/repository/repository.ts";

/** A value of the environment's own: made by us, or written into the secret manager by somebody else. */
export interface OwnSecret {
  readonly kind: "own";
  readonly name: string;
  readonly version: number;
  /** The rotation that this version answers. */
  readonly rotation?: string;
  /** What to make when there is none; absent where somebody else provides the value. */
  readonly generate?: WantedSecret;
}

/** A value that is read from elsewhere in the secret manager. */
export interface ReferredSecret {
  readonly kind: "shared" | "alias";
  readonly name: string;
  /** The id of a shared secret; of an alias the variable of this environment whose value it repeats. */
  readonly of: string;
  /** `latest` only until it is resolved: from then on the version is pinned. */
  readonly version: number | "latest";
  readonly rotation?: string;
  /** What was referred to, as `<id>@<key>`: another one is resolved anew. */
  readonly source: string;
  /** The version of the environment's own value that it stands in for. */
  readonly own?: number;
}

/** A value that is made of another one of the plan, and kept nowhere else. */
export interface DerivedSecret extends Omit<ReferredSecret, "kind"> {
  readonly kind: "derived";
}

/** One variable of the pods' Secret. */
export type PlannedSecret = OwnSecret | ReferredSecret | DerivedSecret;

/**
 * A plan as the status keeps it, with the versions that were found. What is not resolved has the version 0, which
 * nothing has.
 */
export function plannedStatus(
  plan: readonly PlannedSecret[],
  found: ReadonlyMap<string, { readonly version: number }> = new Map(),
): SecretStatus[] {
  return plan.map((secret) => ({
    name: secret.name,
    version: found.get(secret.name)?.version ?? (secret.version === "latest" ? 0 : secret.version),
    ...rotation(secret.rotation),
    ...(secret.kind === "own" ? {} : standIn(secret)),
  }));
}

const standIn = ({ source, own }: ReferredSecret | DerivedSecret) => ({
  source,
  ...(own === undefined ? {} : { own }),
});

/** What a version answers; absent where nothing was asked for. */
export const rotation = (asked: string | undefined) => (asked === undefined ? {} : { rotation: asked });
