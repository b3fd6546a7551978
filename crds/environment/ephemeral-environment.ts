import { findCondition } from "../conditions.ts";
import {
  API_VERSION,
  AUDIT_ID_ANNOTATION,
  type Counted,
  DELETION_TRACEPARENT_ANNOTATION,
  FINALIZER,
  kindOf,
  RECONCILE_ANNOTATION,
  type Resource,
  TRACEPARENT_ANNOTATION,
} from "../group.ts";
import type { Component } from "../names.ts";
import type { EnvironmentStatus } from "./environment-status.schema.ts";
import type { EnvironmentSpec } from "./ephemeral-environment.schema.ts";

export type {
  ComponentStatus,
  EnvironmentStatus,
  Phase,
  SecretStatus,
  SourceStatus,
} from "./environment-status.schema.ts";
export type { EnvironmentSpec } from "./ephemeral-environment.schema.ts";

/**
 * One environment: its desired state (`spec`, written by users) and its observed state (`status`, written by the operator).
 * Its UID is its id in the REST contract.
 */
export interface EphemeralEnvironment extends Resource<"EphemeralEnvironment", EnvironmentSpec, Counted> {
  readonly status?: EnvironmentStatus;
}

export const environmentKind = kindOf("EphemeralEnvironment", "ephemeralenvironments", false);

/** Whether it has our finalizer; nothing is made for an environment that has none. */
export function hasFinalizer({ metadata }: EphemeralEnvironment): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** Whether it has a database: as its spec says, else as the condition says, which follows the config set. */
export function hasDatabase({ spec, status }: Pick<EphemeralEnvironment, "spec" | "status">): boolean {
  const condition = findCondition(status?.conditions, "DatabaseReady");
  return spec.database?.provision ?? (condition !== undefined && condition.reason !== "NotRequested");
}

/** The commit of a component that runs, else the one that is going to; empty where it is not known which one runs. */
export function shownCommit(
  { spec, status }: Pick<EphemeralEnvironment, "spec" | "status">,
  component: Component,
): string {
  const running = status?.components?.[component];
  if (running !== undefined) return running.commit ?? "";
  return status?.sources?.[component]?.resolved?.commit ?? spec[component]?.commit ?? "";
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

/** A resource whose reconcile can be requested: an environment or a Repository. */
interface Annotated {
  readonly metadata: Pick<EphemeralEnvironment["metadata"], "annotations">;
}

/** The length of the status field; a longer token is ignored. */
const TOKEN_MAX_LENGTH = 128;

/** The token that requests a reconcile, answered in `status.lastHandledReconcileAt`; `undefined` without a request. */
export function reconcileToken({ metadata }: Annotated): string | undefined {
  const token = metadata.annotations?.[RECONCILE_ANNOTATION];
  return token === undefined || token.length > TOKEN_MAX_LENGTH ? undefined : token;
}

/** The length of the status field; our ids are shorter. */
const AUDIT_ID_MAX_LENGTH = 64;

/** The status field for the audit record that the resource names; empty when it names none. */
export function observedAuditId({ metadata }: Annotated): Pick<EnvironmentStatus, "observedAuditId"> {
  const id = metadata.annotations?.[AUDIT_ID_ANNOTATION];
  return id === undefined || id.length > AUDIT_ID_MAX_LENGTH ? {} : { observedAuditId: id };
}

/**
 * The `traceparent` of what asked for its deletion until a status tells of that, else of the last change through the REST
 * interface, if that was traced and no status has observed it yet.
 */
export function unobservedTraceparent({
  metadata,
  status,
}: Pick<EphemeralEnvironment, "metadata" | "status">): string | undefined {
  const ofDeletion = metadata.annotations?.[DELETION_TRACEPARENT_ANNOTATION];
  const isDeletionNew = metadata.deletionTimestamp !== undefined && status?.teardown === undefined;
  if (isDeletionNew && ofDeletion !== undefined) return ofDeletion;
  const { observedAuditId: id } = observedAuditId({ metadata });
  if (id === undefined || id === status?.observedAuditId) return undefined;
  return metadata.annotations?.[TRACEPARENT_ANNOTATION];
}

/** Whether a requested reconcile is not answered in the status yet. */
export function isReconcileRequested(environment: Pick<EphemeralEnvironment, "metadata" | "status">): boolean {
  const token = reconcileToken(environment);
  return token !== undefined && token !== environment.status?.lastHandledReconcileAt;
}
