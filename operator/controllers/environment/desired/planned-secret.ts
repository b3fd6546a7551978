import type { SecretStatus } from "../../../../crds/environment/ephemeral-environment.ts";
import { present } from "../../../../crds/present.ts";
import type { GeneratedSecret } from "../../../../crds/repository/repository.ts";
import type { DerivedVariable } from "../backing-services/backing-service.ts";

/** An environment's own value: generated, or written into the secret manager by a user. */
export interface OwnSecret {
  readonly kind: "own";
  readonly name: string;
  readonly version: number;
  /** Rotation that requested this version. */
  readonly rotation?: string;
  /** Shape of a generated value; absent for a user's value. */
  readonly generate?: GeneratedSecret;
}

/** A value from another place in the secret manager. */
export interface ReferredSecret {
  readonly kind: "shared" | "alias";
  readonly name: string;
  /** Id of a shared secret; for an alias, the source variable of this environment. */
  readonly of: string;
  /** `latest` until it is resolved and pinned. */
  readonly version: number | "latest";
  readonly rotation?: string;
  /** `<id>@<key>`; a changed reference is resolved again. */
  readonly source: string;
  /** Version of the own value that the reference replaces. */
  readonly own?: number;
}

/** A value computed from another one of the plan and stored nowhere else. */
export interface DerivedSecret extends Omit<ReferredSecret, "kind"> {
  readonly kind: "derived";
  readonly value: DerivedVariable["value"];
}

/** One variable of the pods' Secret. */
export type PlannedSecret = OwnSecret | ReferredSecret | DerivedSecret;

/** Status of a plan with the found versions; an unresolved version is 0, which does not exist. */
export function plannedStatus(
  plan: readonly PlannedSecret[],
  found: ReadonlyMap<string, { readonly version: number }> = new Map(),
): SecretStatus[] {
  return plan.map((secret) => ({
    name: secret.name,
    version: found.get(secret.name)?.version ?? (secret.version === "latest" ? 0 : secret.version),
    ...rotation(secret.rotation),
    ...(secret.kind === "own" ? {} : present({ source: secret.source, own: secret.own })),
  }));
}

/** Field for a rotation; empty without one. */
export const rotation = (requested: string | undefined) => present({ rotation: requested });
