import type { SecretStatus } from "../../../../crds/environment/ephemeral-environment.ts";
import type { WantedSecret } from "../../../../crds/repository/repository.ts";
import type { DerivedVariable } from "../backing-services/backing-service.ts";

/** A value that the environment owns: generated, or written into the secret manager by a user. */
export interface OwnSecret {
  readonly kind: "own";
  readonly name: string;
  readonly version: number;
  /** The rotation that asked for this version. */
  readonly rotation?: string;
  /** The shape of the value to generate; absent when a user provides the value. */
  readonly generate?: WantedSecret;
}

/** A value that is read from another place in the secret manager. */
export interface ReferredSecret {
  readonly kind: "shared" | "alias";
  readonly name: string;
  /** The id of a shared secret; for an alias the variable of this environment whose value it repeats. */
  readonly of: string;
  /** `latest` until it is resolved; then the version is pinned. */
  readonly version: number | "latest";
  readonly rotation?: string;
  /** The reference, as `<id>@<key>`; a changed reference is resolved again. */
  readonly source: string;
  /** The version of the environment's own value that the reference replaces. */
  readonly own?: number;
}

/** A value that is computed from another one of the plan and stored nowhere else. */
export interface DerivedSecret extends Omit<ReferredSecret, "kind"> {
  readonly kind: "derived";
  readonly value: DerivedVariable["value"];
}

/** One variable of the pods' Secret. */
export type PlannedSecret = OwnSecret | ReferredSecret | DerivedSecret;

/** A plan as the status keeps it, with the versions that were found; an unresolved version is 0, which does not exist. */
export function plannedStatus(
  plan: readonly PlannedSecret[],
  found: ReadonlyMap<string, { readonly version: number }> = new Map(),
): SecretStatus[] {
  return plan.map((secret) => ({
    name: secret.name,
    version: found.get(secret.name)?.version ?? (secret.version === "latest" ? 0 : secret.version),
    ...rotation(secret.rotation),
    ...(secret.kind === "own" ? {} : reference(secret)),
  }));
}

const reference = ({ source, own }: ReferredSecret | DerivedSecret) =>
  own === undefined ? { source } : { source, own };

/** The field for a rotation; empty when none was requested. */
export const rotation = (requested: string | undefined) => (requested === undefined ? {} : { rotation: requested });
