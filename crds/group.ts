/** The API group of every kind of this platform; a fork changes it here and nowhere else. */
export const GROUP = "ephemeral-environments.dev";
export const VERSION = "v1";
export const API_VERSION = `${GROUP}/${VERSION}`;

/**
 * On every object that exists because of an environment: the environment's UID.
 * Ownership is decided by it and by nothing else, because names can be taken and prefixes can collide.
 */
export const ENVIRONMENT_UID_LABEL = `${GROUP}/environment-uid`;
/** Beside the UID, for people: the environment's name. Never decides anything. */
export const ENVIRONMENT_NAME_LABEL = `${GROUP}/environment`;
/** `"true"` on a Secret of the embedded secret manager that no environment owns: one that the settings may share. */
export const SHARED_SECRET_LABEL = `${GROUP}/shared`;
/** Held until everything outside the resource is verified gone. */
export const FINALIZER = `${GROUP}/teardown`;
/** A token that asks for a pass now; answered in `status.lastHandledReconcileAt`. */
export const RECONCILE_ANNOTATION = `${GROUP}/reconcile-at`;
/** Names the step of a deletion that an admin goes past although it is stuck; what it leaves behind is recorded. */
export const FORCE_TEARDOWN_ANNOTATION = `${GROUP}/force-teardown`;
/** `"true"` on what a breaker holds back: an admin has looked, and it may go. */
export const CONFIRM_DELETION_ANNOTATION = `${GROUP}/confirm-deletion`;
/** Tells the request that made an environment from all others; see `creation-mark.ts`. */
export const CREATION_MARK_ANNOTATION = `${GROUP}/creation-mark`;
/** Why the TTL was changed last, as the caller of the REST interface said it. */
export const EXTENSION_NOTE_ANNOTATION = `${GROUP}/extension-note`;

/** Who made a thing through the REST interface, for people: proves nothing. */
export const CREATED_BY_ANNOTATION = `${GROUP}/created-by`;

/** The id of the audit record of the REST interface's last change of the object; what is changed past it keeps the old one. */
export const AUDIT_ID_ANNOTATION = `${GROUP}/audit-id`;

/** The labels of everything that belongs to an environment: the UID decides, the name is for people. */
export function ownerLabels(owner: { name: string; uid: string }): Record<string, string> {
  return {
    "app.kubernetes.io/managed-by": "ephemeral-environments",
    [ENVIRONMENT_NAME_LABEL]: owner.name,
    [ENVIRONMENT_UID_LABEL]: owner.uid,
  };
}

/** How the API server addresses a kind; the operator's client takes it as it is. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}
