import type { KubeObject } from "../kit/client/objects.ts";

/** The name under which this platform writes: `operator.ts` gives it to its clients. */
export const OUR_FIELD_MANAGER = "ephemeral-environments";

/** https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management, as far as it is read. */
interface ManagedFields {
  readonly manager?: string;
  /** To the second. */
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: object;
}

/** Remembers who else wrote the specs of cached objects, because caches drop the objects' history. */
export interface FieldManagers {
  /** The same transform of a cache, which passes every object by here. */
  noting<T extends KubeObject>(transform: (object: T) => T): (object: T) => T;
  /** What wrote the spec of that very version last, as it called itself; none when that was this platform. */
  of(object: KubeObject): readonly string[];
}

export function fieldManagers(): FieldManagers {
  const known = new WeakMap<KubeObject, readonly string[]>();
  return {
    noting: (transform) => (object) => {
      const kept = transform(object);
      const writers = lastWriters(object).filter((manager) => manager !== OUR_FIELD_MANAGER);
      if (writers.length > 0) known.set(kept, writers);
      return kept;
    },
    of: (object) => known.get(object) ?? [],
  };
}

/** Those who wrote the spec in the second of its last change. */
function lastWriters({ metadata }: KubeObject): readonly string[] {
  const entries: readonly ManagedFields[] = metadata.managedFields ?? [];
  const ofSpec = entries.filter(
    ({ subresource, fieldsV1 }) => subresource === undefined && fieldsV1 !== undefined && "f:spec" in fieldsV1,
  );
  const last = ofSpec.reduce((latest, { time = "" }) => (time > latest ? time : latest), "");
  return ofSpec.filter(({ time = "" }) => time === last).map(({ manager = "unknown" }) => manager);
}
