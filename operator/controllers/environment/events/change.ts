import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION } from "../../../../crds/group.ts";

/** An environment before and after a status write. */
export interface StoredChange {
  readonly before: EphemeralEnvironment;
  readonly after: EphemeralEnvironment;
  /** Foreign field managers that last wrote its spec; none for the platform. */
  readonly writers: readonly string[];
}

/**
 * Author of a spec change: the REST interface with the id of its audit record, or field managers, known to the second.
 * Names and addresses stay in that record: more people may read events.
 */
export function madeBy({ before, after, writers }: StoredChange): string {
  const auditId = after.metadata.annotations?.[AUDIT_ID_ANNOTATION];
  const isNew = auditId !== undefined && auditId !== before.status?.observedAuditId;
  if (isNew) return `through the REST interface (audit record ${auditId})`;
  return writers.length > 0 ? `by ${writers.join(", ")}` : "through the REST interface";
}

/** Cause of the creation, as far as the resource says. */
export function madeFor(change: StoredChange): string {
  const { kind, number, repository } = change.after.spec.trigger ?? {};
  if (kind === "pull_request") return `for pull request ${number} of Repository ${repository}`;
  if (kind === "pipeline") return `for a pipeline of Repository ${repository}`;
  return madeBy(change);
}
