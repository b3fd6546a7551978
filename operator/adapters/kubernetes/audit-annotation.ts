import { AUDIT_ID_ANNOTATION } from "../../../crds/group.ts";
import type { KubeObject } from "../../kit/client/objects.ts";

/** The id of the record of the request that is being served; none outside of one. */
export type AuditId = () => string | undefined;

/** The annotation that names the record of a change, for a new object or a merge patch. */
export function auditAnnotations(auditId: AuditId = () => undefined): Readonly<Record<string, string>> {
  const id = auditId();
  return id === undefined ? {} : { [AUDIT_ID_ANNOTATION]: id };
}

/** The same for a JSON patch that holds for the version that was read. */
export function auditOperations({ metadata }: KubeObject, auditId: AuditId | undefined): readonly object[] {
  const added = Object.entries(auditAnnotations(auditId));
  if (metadata.annotations === undefined && added.length > 0) {
    return [{ op: "add", path: "/metadata/annotations", value: Object.fromEntries(added) }];
  }
  // A slash in a name is `~1` (RFC 6901).
  const pathOf = (name: string) => `/metadata/annotations/${name.replaceAll("/", "~1")}`;
  return added.map(([name, value]) => ({ op: "add", path: pathOf(name), value }));
}
