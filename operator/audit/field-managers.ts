import type { KubeObject } from "../kit/client/objects.ts";

/** The field manager of this platform's own clients. */
export const OUR_FIELD_MANAGER = "ephemeral-environments";

/** https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management, the fields that are read here. */
interface ManagedFields {
  readonly manager?: string;
  /** To the second. */
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: object;
}

/** Remembers the foreign field managers of cached objects, because caches drop `managedFields`. */
export function fieldManagers() {
  const known = new WeakMap<KubeObject, readonly string[]>();
  return {
    /** Wraps the transform of a cache. */
    noting:
      <T extends KubeObject>(transform: (object: T) => T) =>
      (object: T): T => {
        const kept = transform(object);
        const writers = lastWriters(object).filter((manager) => manager !== OUR_FIELD_MANAGER);
        if (writers.length > 0) known.set(kept, writers);
        return kept;
      },
    /** The foreign field managers that last wrote the spec of this version; empty when that was this platform. */
    of: (object: KubeObject): readonly string[] => known.get(object) ?? [],
  };
}

/** The field managers that wrote the spec in the second of its last change. */
function lastWriters({ metadata }: KubeObject): readonly string[] {
  const entries: readonly ManagedFields[] = metadata.managedFields ?? [];
  const ofSpec = entries.filter(
    ({ subresource, fieldsV1 }) => subresource === undefined && fieldsV1 !== undefined && "f:spec" in fieldsV1,
  );
  const last = ofSpec.reduce((latest, { time = "" }) => (time > latest ? time : latest), "");
  return ofSpec.filter(({ time = "" }) => time === last).map(({ manager = "unknown" }) => manager);
}
