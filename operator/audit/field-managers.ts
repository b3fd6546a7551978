import { FIELD_MANAGER } from "../../crds/group.ts";
import type { KubeObject } from "../kit/client/objects.ts";

/** Remembers the foreign field managers of cached objects, because caches drop `managedFields`. */
export function fieldManagers() {
  const known = new WeakMap<KubeObject, readonly string[]>();
  return {
    /** Wraps a cache's transform. */
    noting:
      <T extends KubeObject>(transform: (object: T) => T) =>
      (object: T): T => {
        const kept = transform(object);
        const writers = lastWriters(object).filter((manager) => manager !== FIELD_MANAGER);
        if (writers.length > 0) known.set(kept, writers);
        return kept;
      },
    /** Foreign field managers that last wrote this version's spec; empty for the platform. */
    of: (object: KubeObject): readonly string[] => known.get(object) ?? [],
  };
}

/** Field managers that wrote the spec in the second of its last change. */
function lastWriters({ metadata }: KubeObject): readonly string[] {
  const ofSpec = (metadata.managedFields ?? []).filter(
    ({ subresource, fieldsV1 }) => subresource === undefined && fieldsV1 !== undefined && "f:spec" in fieldsV1,
  );
  const last = ofSpec.reduce((latest, { time = "" }) => (time > latest ? time : latest), "");
  return ofSpec.filter(({ time = "" }) => time === last).map(({ manager = "unknown" }) => manager);
}
