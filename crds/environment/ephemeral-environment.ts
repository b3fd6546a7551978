import { findCondition } from "../conditions.ts";
import {
  API_VERSION,
  AUDIT_ID_ANNOTATION,
  type Counted,
  DELETION_TRACEPARENT_ANNOTATION,
  FINALIZER,
  kindOf,
  type Resource,
  reconcileToken,
  TRACEPARENT_ANNOTATION,
} from "../group.ts";
import { COMPONENTS, type Component } from "../names.ts";
import { present } from "../present.ts";
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
 * One environment: its desired state (`spec`, by users) and its observed state (`status`, by the operator). Its UID is
 * its id in the REST contract.
 */
export interface EphemeralEnvironment extends Resource<"EphemeralEnvironment", EnvironmentSpec, Counted> {
  readonly status?: EnvironmentStatus;
}

export const environmentKind = kindOf("EphemeralEnvironment", "ephemeralenvironments", false);

/** True with the platform's finalizer; without it, nothing is made for the environment. */
export function hasFinalizer({ metadata }: EphemeralEnvironment): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** An environment, or one that may be made. */
interface Specified {
  readonly spec: EnvironmentSpec;
}

/** Desired state of an environment, and what is known of it. */
export interface SpecAndStatus extends Specified {
  readonly status?: EnvironmentStatus;
}

/** True with a database: by the spec, else by the condition, which follows the config set. */
export function hasDatabase({ spec, status }: SpecAndStatus): boolean {
  const condition = findCondition(status?.conditions, "DatabaseReady");
  return spec.database?.provision ?? (condition !== undefined && condition.reason !== "NotRequested");
}

/** Commit of a component that runs, else the one that will; empty where it is unknown. */
export function shownCommit({ spec, status }: SpecAndStatus, component: Component): string {
  const running = status?.components?.[component];
  if (running !== undefined) return running.commit ?? "";
  return status?.sources?.[component]?.resolved?.commit ?? spec[component]?.commit ?? "";
}

/** Components that the environment has. */
export function componentsOf({ spec }: Specified): readonly Component[] {
  return COMPONENTS.filter((component) => spec[component] !== undefined);
}

/** Names of the Repositories that an environment uses. */
export function repositoriesOf({ spec }: Specified): readonly string[] {
  return [spec.backend.repository, spec.frontend?.repository].filter((name) => name !== undefined);
}

/** Manifest of an environment that does not exist yet. */
export function environmentManifest(name: string, spec: EnvironmentSpec, annotations?: Record<string, string>) {
  const metadata = { name, ...present({ annotations }) };
  return { apiVersion: API_VERSION, kind: "EphemeralEnvironment", metadata, spec } as const;
}

interface Annotated {
  readonly metadata: Pick<EphemeralEnvironment["metadata"], "annotations">;
}

/** Length of the status field; the platform's ids are shorter. */
const AUDIT_ID_MAX_LENGTH = 64;

/** Status fields that answer annotations: the audit record that the resource names, and the requested reconcile. */
export function handledRequests(
  environment: Annotated,
): Pick<EnvironmentStatus, "observedAuditId" | "lastHandledReconcileAt"> {
  const id = environment.metadata.annotations?.[AUDIT_ID_ANNOTATION];
  const token = reconcileToken(environment);
  return {
    ...(id === undefined || id.length > AUDIT_ID_MAX_LENGTH ? {} : { observedAuditId: id }),
    ...present({ lastHandledReconcileAt: token }),
  };
}

/**
 * `traceparent` of the deletion request until a status reports the deletion, else of the REST interface's last change;
 * `undefined` if it was not traced or is observed.
 */
export function unobservedTraceparent({
  metadata,
  status,
}: Pick<EphemeralEnvironment, "metadata" | "status">): string | undefined {
  const ofDeletion = metadata.annotations?.[DELETION_TRACEPARENT_ANNOTATION];
  const isDeletionNew = metadata.deletionTimestamp !== undefined && status?.teardown === undefined;
  if (isDeletionNew && ofDeletion !== undefined) return ofDeletion;
  const { observedAuditId: id } = handledRequests({ metadata });
  if (id === undefined || id === status?.observedAuditId) return undefined;
  return metadata.annotations?.[TRACEPARENT_ANNOTATION];
}

/** True when a requested reconcile has no answer in the status yet. */
export function isReconcileRequested(environment: Pick<EphemeralEnvironment, "metadata" | "status">): boolean {
  const token = reconcileToken(environment);
  return token !== undefined && token !== environment.status?.lastHandledReconcileAt;
}
