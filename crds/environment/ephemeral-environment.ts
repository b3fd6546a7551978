import { findCondition } from "../conditions.ts";
import {
  API_VERSION,
  AUDIT_ID_ANNOTATION,
  FINALIZER,
  GROUP,
  type Kind,
  RECONCILE_ANNOTATION,
  VERSION,
} from "../group.ts";
import type { EnvironmentStatus } from "./environment-status.schema.ts";
import type { EnvironmentSpec } from "./ephemeral-environment.schema.ts";

export type { ComponentStatus, EnvironmentStatus, Phase, SecretStatus } from "./environment-status.schema.ts";
export type { EnvironmentSpec } from "./ephemeral-environment.schema.ts";

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
export function hasFinalizer({ metadata }: EphemeralEnvironment): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** Whether it has a database of its own: as its spec says, else as its config set had it when that was last judged. */
export function hasDatabase({ spec, status }: Pick<EphemeralEnvironment, "spec" | "status">): boolean {
  const judged = findCondition(status?.conditions, "DatabaseReady");
  return spec.database?.provision ?? (judged !== undefined && judged.reason !== "NotRequested");
}

/** The Repositories that an environment uses, by name. */
export function repositoriesOf({ spec }: Pick<EphemeralEnvironment, "spec">): readonly string[] {
  return [spec.backend.repository, spec.frontend?.repository].filter((name) => name !== undefined);
}

/** A manifest of an environment that does not exist yet. */
export function environmentManifest(name: string, spec: EnvironmentSpec, annotations?: Record<string, string>) {
  const metadata = { name, ...(annotations === undefined ? {} : { annotations }) };
  return { apiVersion: API_VERSION, kind: "EphemeralEnvironment", metadata, spec } as const;
}

/** What people can ask for a pass over: an environment or a Repository. */
interface Annotated {
  readonly metadata: Pick<EphemeralEnvironment["metadata"], "annotations">;
}

/** Longer than any clock's text: a token that does not fit its field was never one of ours. */
const TOKEN_MAX_LENGTH = 128;

/** The token that asks for a pass, to be answered in `status.lastHandledReconcileAt`; `undefined` when nobody asks. */
export function reconcileToken({ metadata }: Annotated): string | undefined {
  const token = metadata.annotations?.[RECONCILE_ANNOTATION];
  return token === undefined || token.length > TOKEN_MAX_LENGTH ? undefined : token;
}

/** Ids of ours are shorter. */
const AUDIT_ID_MAX_LENGTH = 64;

/** What the status remembers of the audit record that the resource names; nothing where it names none. */
export function observedAuditId({ metadata }: Annotated): Pick<EnvironmentStatus, "observedAuditId"> {
  const id = metadata.annotations?.[AUDIT_ID_ANNOTATION];
  return id === undefined || id.length > AUDIT_ID_MAX_LENGTH ? {} : { observedAuditId: id };
}

/** Whether somebody asks for a pass that no status has answered yet. */
export function isReconcileRequested(environment: Pick<EphemeralEnvironment, "metadata" | "status">): boolean {
  const token = reconcileToken(environment);
  return token !== undefined && token !== environment.status?.lastHandledReconcileAt;
}
