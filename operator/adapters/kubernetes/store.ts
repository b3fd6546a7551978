import { AUDIT_ID_ANNOTATION, TRACEPARENT_ANNOTATION } from "../../../crds/group.ts";
import { present } from "../../../crds/present.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import { insteadOf, isConflict, isNotFound } from "../../kit/client/errors.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../kit/client/objects.ts";
import type { OwnDeletions } from "../../kit/client/own-deletions.ts";
import type { Clock } from "../../kit/time/clock.ts";

/** Audit id of the current request, if any. */
export type AuditId = () => string | undefined;

/** Dependencies of an adapter for one kind. */
export interface Store<T extends KubeObject> {
  readonly client: KubeClient;
  readonly cache: ObjectCache<T>;
  /** The platform's own. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly deletions: OwnDeletions;
  /** Present: writes carry the record of their request. */
  readonly auditId?: AuditId | undefined;
  /** Present: writes carry the current span, if traced, beside the record. */
  readonly traceparent?: (() => string | undefined) | undefined;
}

/** Dependencies of an adapter without a cache. */
export type UncachedStore = Pick<Store<KubeObject>, "client" | "namespace">;

type Stamps = Pick<Store<KubeObject>, "auditId" | "traceparent">;

/** Shows a write at once, before the watch delivers it. */
export function kept<T extends KubeObject>(cache: ObjectCache<T>, written: T): T {
  cache.written(written);
  return written;
}

/** Shows the remainder of a deletion at once. */
export function keptRest<T extends KubeObject>(cache: ObjectCache<T>, deleted: T, left: T | "gone"): void {
  if (left === "gone") cache.deleted(deleted);
  else cache.written(left);
}

/** Deletes exactly this object, remembered as ours where `deletions` is given; fine when it is gone. */
export async function removeExactly<T extends KubeObject>(
  { client, cache, deletions }: Pick<Store<T>, "client" | "cache"> & Partial<Pick<Store<T>, "deletions">>,
  type: ResourceType<T>,
  object: T,
): Promise<void> {
  const { uid } = object.metadata;
  const removal = () => client.delete(type, object.metadata, { uid });
  // A conflict: another object now has the name.
  const left = await (deletions?.during(uid, removal) ?? removal()).catch(insteadOf(isConflict, "gone"));
  keptRest(cache, object, left);
}

/**
 * First operation of a JSON patch that holds for exactly the version read. Writing the version back makes the API
 * server answer 409 after a change; a failing `test` is a 422, like some refusals by admission.
 */
export function sameVersion({ resourceVersion }: Pick<ObjectMeta, "resourceVersion">): object {
  return { op: "replace", path: "/metadata/resourceVersion", value: resourceVersion };
}

/** First operation of a JSON patch that holds for this object in any version; a 422 when another has its name. */
export function sameObject({ uid }: Pick<ObjectMeta, "uid">): object {
  return { op: "test", path: "/metadata/uid", value: uid };
}

/** True when a write came too late: the object has changed, is gone, or is another one of its name. */
export const isOvertaken = (error: unknown) => isConflict(error) || isNotFound(error);

/** A key as part of a JSON pointer: https://www.rfc-editor.org/rfc/rfc6901#section-3. */
export const pointerOf = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/** Annotation with the audit record of a change, for a new object or a merge patch. */
export function auditAnnotations(auditId: AuditId = () => undefined): Readonly<Record<string, string>> {
  return present({ [AUDIT_ID_ANNOTATION]: auditId() });
}

/** Annotations with the record and span of a change: for a new environment. */
export function changeAnnotations({ auditId, traceparent }: Stamps): Readonly<Record<string, string>> {
  const record = auditAnnotations(auditId);
  const span = record[AUDIT_ID_ANNOTATION] === undefined ? undefined : traceparent?.();
  return span === undefined ? record : { ...record, [TRACEPARENT_ANNOTATION]: span };
}

/** The same for a merge patch: a record without a span removes an earlier span. */
export function changePatch(stamps: Stamps): Readonly<Record<string, string | null>> {
  const annotations = changeAnnotations(stamps);
  return annotations[AUDIT_ID_ANNOTATION] === undefined ? {} : { [TRACEPARENT_ANNOTATION]: null, ...annotations };
}

/** The audit record for a JSON patch of the version read. */
export function auditOperations({ metadata }: KubeObject, auditId: AuditId | undefined): readonly object[] {
  const added = Object.entries(auditAnnotations(auditId));
  if (metadata.annotations === undefined && added.length > 0) {
    return [{ op: "add", path: "/metadata/annotations", value: Object.fromEntries(added) }];
  }
  return added.map(([name, value]) => ({ op: "add", path: `/metadata/annotations/${pointerOf(name)}`, value }));
}
