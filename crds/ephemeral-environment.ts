import type { EnvironmentSpec, EnvironmentStatus } from "./ephemeral-environment.schema.ts";
import { API_VERSION, FINALIZER, GROUP, type Kind, VERSION } from "./group.ts";

export type { ComponentStatus, EnvironmentSpec, EnvironmentStatus, Phase } from "./ephemeral-environment.schema.ts";

/** One environment: what is wanted (`spec`, written by its users) and what is (`status`, written by the operator alone). */
export interface EphemeralEnvironment {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: "EphemeralEnvironment";
  readonly metadata: {
    readonly name: string;
    /** The environment's id in the REST contract. */
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation: number;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: EnvironmentSpec;
  readonly status?: EnvironmentStatus;
}

export const environmentKind = {
  group: GROUP,
  version: VERSION,
  kind: "EphemeralEnvironment",
  plural: "ephemeralenvironments",
  namespaced: false,
} as const satisfies Kind;

/** Whether our finalizer is on it: without it nothing was made for the environment, and nothing may be. */
export function isHeld({ metadata }: EphemeralEnvironment): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** A manifest of an environment that does not exist yet. */
export function environmentManifest(name: string, spec: EnvironmentSpec) {
  return { apiVersion: API_VERSION, kind: "EphemeralEnvironment", metadata: { name }, spec } as const;
}
