import { AUDIT_ID_ANNOTATION, TRACEPARENT_ANNOTATION } from "../../../crds/group.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import type { KubeObject } from "../../kit/client/objects.ts";
import type { OwnDeletions } from "../../kit/client/own-deletions.ts";
import type { Clock } from "../../kit/time/clock.ts";

/** Audit id of the current request, if any. */
export type AuditId = () => string | undefined;

/** Current span, if traced. */
export type Traceparent = () => string | undefined;

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
  /** Present: writes carry their span, beside the record. */
  readonly traceparent?: Traceparent | undefined;
}

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

/** Annotation with the audit record of a change, for a new object or a merge patch. */
export function auditAnnotations(auditId: AuditId = () => undefined): Readonly<Record<string, string>> {
  const id = auditId();
  return id === undefined ? {} : { [AUDIT_ID_ANNOTATION]: id };
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

/** The same for a JSON patch of the version read. */
export function auditOperations({ metadata }: KubeObject, auditId: AuditId | undefined): readonly object[] {
  const added = Object.entries(auditAnnotations(auditId));
  if (metadata.annotations === undefined && added.length > 0) {
    return [{ op: "add", path: "/metadata/annotations", value: Object.fromEntries(added) }];
  }
  // A slash in a name is `~1` (RFC 6901).
  const pathOf = (name: string) => `/metadata/annotations/${name.replaceAll("/", "~1")}`;
  return added.map(([name, value]) => ({ op: "add", path: pathOf(name), value }));
}
