import { MINUTE_MS } from "./durations.ts";

/** API group of every kind of this platform; a fork changes only this. */
export const GROUP = "ephemeral-environments.dev";
/** Field manager of the platform's own clients; Applications name it in `ignoreDifferences`. */
export const FIELD_MANAGER = "ephemeral-environments";
export const VERSION = "v1";
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Label of every object of an environment: its UID. It alone decides ownership, because names can be taken. */
export const ENVIRONMENT_UID_LABEL = `${GROUP}/environment-uid`;
/** Label of every object of an environment: its name. */
export const ENVIRONMENT_NAME_LABEL = `${GROUP}/environment`;
/** `"true"` on a Secret of the embedded secret manager that settings may share and no environment owns. */
export const SHARED_SECRET_LABEL = `${GROUP}/shared`;
/** Finalizer of environments; removed when everything outside the resource is verified gone. */
export const FINALIZER = `${GROUP}/teardown`;
/** Token that requests a reconcile; answered in `status.lastHandledReconcileAt`. */
export const RECONCILE_ANNOTATION = `${GROUP}/reconcile-at`;
/** Any text, such as the time; a new one wakes an environment that its schedule has asleep. */
export const WAKE_ANNOTATION = `${GROUP}/wake-at`;
/** Time of the last request to a host of the environment while it slept; the gate alone writes it, and wakes it so. */
export const REQUESTED_ANNOTATION = `${GROUP}/requested-at`;
/** Time at which a person last read the environment's log; the REST interface writes it every few minutes at most. */
export const LAST_ACTIVITY_ANNOTATION = `${GROUP}/last-activity-at`;
/** Names the stuck step of a deletion that an admin skips; leftovers are recorded. */
export const FORCE_TEARDOWN_ANNOTATION = `${GROUP}/force-teardown`;
/** Annotation of a terminating namespace: time at which none of its pods was left; see `NamespaceContents`. */
export const PODS_ENDED_ANNOTATION = `${GROUP}/pods-ended-at`;
/** `"true"` confirms a deletion that the deletion budget blocks. */
export const CONFIRM_DELETION_ANNOTATION = `${GROUP}/confirm-deletion`;
/** Branch that a component's host reported as deleted; shown as a condition. */
export const DELETED_BRANCH_ANNOTATION = {
  backend: `${GROUP}/deleted-branch-backend`,
  frontend: `${GROUP}/deleted-branch-frontend`,
} as const;
/** Identifies the request that created an environment; see `idempotency-record.ts`. */
export const CREATION_MARK_ANNOTATION = `${GROUP}/creation-mark`;
/** Reason of the last change of the TTL, from the caller of the REST interface. */
export const EXTENSION_NOTE_ANNOTATION = `${GROUP}/extension-note`;
/** Any text; a new one rebuilds an environment from Git that its expiry or a user has ended. */
export const RENEW_ANNOTATION = `${GROUP}/renew`;
/**
 * Cause of a deletion by the REST interface where Git or a webhook may bring the environment back; see `managed-by.ts`.
 */
export const DELETION_CAUSE_ANNOTATION = `${GROUP}/deletion-cause`;
/** State of its pull request at the last write; see `applied-state.ts`. */
export const PULL_REQUEST_STATE_ANNOTATION = `${GROUP}/pull-request-state`;
/**
 * Rule by which a pull request lost its environment, for people: its commit gets a success, where the Repository says
 * so.
 */
export const EXCLUDED_BY_ANNOTATION = `${GROUP}/excluded-by`;

/** Annotation of pods, from the chart: the commit of their image. Every commit changes it, so a moving tag rolls out, too. */
export const COMMIT_ANNOTATION = `${GROUP}/commit`;

/** Label of pods, from the chart: their component; it precedes any other label. */
export const OWN_COMPONENT_LABEL = `${GROUP}/component`;

/** Caller that created an object through the REST interface; not proven. */
export const CREATED_BY_ANNOTATION = `${GROUP}/created-by`;

/** Id of the audit record of the REST interface's last change. */
export const AUDIT_ID_ANNOTATION = `${GROUP}/audit-id`;

/**
 * `traceparent` of the REST interface's last change of an environment, or of the webhook's request, if traced: the
 * reconcile links it.
 */
export const TRACEPARENT_ANNOTATION = `${GROUP}/traceparent`;

/**
 * `traceparent` of the request for an environment's deletion, if traced: the first reconciles of the deletion link it.
 */
export const DELETION_TRACEPARENT_ANNOTATION = `${GROUP}/deletion-traceparent`;

/** Labels of every object of an environment. */
export function ownerLabels(owner: { name: string; uid: string }): Record<string, string> {
  return {
    "app.kubernetes.io/managed-by": "ephemeral-environments",
    [ENVIRONMENT_NAME_LABEL]: owner.name,
    [ENVIRONMENT_UID_LABEL]: owner.uid,
  };
}

/** A stored object of one of the platform's kinds. */
export interface Resource<K extends string, Spec, More = unknown> {
  readonly apiVersion: typeof API_VERSION;
  readonly kind: K;
  readonly metadata: Metadata & More;
  readonly spec: Spec;
}

interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
  /** Moment of the deletion request; the object stays until its finalizers are gone. */
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Only in a fresh read and in the answer to a write: caches drop it. */
  readonly managedFields?: readonly ManagedFields[];
}

/**
 * Last write of one field manager. https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export interface ManagedFields {
  readonly manager?: string;
  /** Time of this manager's last change of one of its fields, to the second; another manager's takeover leaves it. */
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: object;
}

/** Metadata of an object in a namespace. */
export interface Namespaced {
  readonly namespace: string;
}

export interface Counted {
  readonly generation: number;
}

/** Names by which the API server addresses a kind. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** A kind of the platform. */
export function kindOf<const K extends string, const P extends string>(kind: K, plural: P, namespaced = true) {
  return { group: GROUP, version: VERSION, kind, plural, namespaced } as const satisfies Kind;
}

/** Length of the status field; longer tokens are ignored. */
const TOKEN_MAX_LENGTH = 128;

/** Token of an annotation; `undefined` without one, or where it is too long for its status field. */
interface Annotated {
  readonly annotations?: Metadata["annotations"] | undefined;
}

function tokenOf({ annotations }: Annotated, annotation: string): string | undefined {
  const token = annotations?.[annotation];
  return token === undefined || token.length > TOKEN_MAX_LENGTH ? undefined : token;
}

/** Request to wake an environment, answered in `status.sleep.lastHandledWakeAt`; `undefined` without one. */
export function wakeToken({ metadata }: { readonly metadata: Annotated }): string | undefined {
  return tokenOf(metadata, WAKE_ANNOTATION);
}

/** Time of the annotation `last-activity-at`, at most `now`; `undefined` without one, or where it is no time. */
export function lastActivityOf(
  { metadata }: { readonly metadata: Pick<Metadata, "annotations"> },
  now: Date,
): Date | undefined {
  const ms = Date.parse(metadata.annotations?.[LAST_ACTIVITY_ANNOTATION] ?? "");
  return Number.isNaN(ms) ? undefined : new Date(Math.min(ms, now.getTime()));
}

/** Clocks may be apart by so much. */
const AHEAD_MS = MINUTE_MS;

/** Time of the annotation `requested-at`; `undefined` without one, where it is no time, or one of the future. */
export function requestedAtOf(
  { metadata }: { readonly metadata: Pick<Metadata, "annotations"> },
  now: Date,
): Date | undefined {
  const ms = Date.parse(metadata.annotations?.[REQUESTED_ANNOTATION] ?? "");
  return Number.isNaN(ms) || ms > now.getTime() + AHEAD_MS ? undefined : new Date(ms);
}

/** Milliseconds until a request of a clock that is ahead counts; `undefined` without one. */
export function requestCountsInMs(
  { metadata }: { readonly metadata: Pick<Metadata, "annotations"> },
  now: Date,
): number | undefined {
  const inMs = Date.parse(metadata.annotations?.[REQUESTED_ANNOTATION] ?? "") - AHEAD_MS - now.getTime();
  return inMs > 0 ? inMs : undefined;
}

/** Token that requests a reconcile, answered in `status.lastHandledReconcileAt`; `undefined` without a request. */
export function reconcileToken({ metadata }: { readonly metadata: Annotated }): string | undefined {
  return tokenOf(metadata, RECONCILE_ANNOTATION);
}
