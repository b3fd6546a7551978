import type { KubeObject, ResourceType } from "../client/objects.ts";
import type { IndexFunction } from "./cache-index.ts";

/** A kind that this process watches: which of its objects, what is kept of each, and how they are found. */
export interface WatchedKind<T extends KubeObject> {
  readonly type: ResourceType<T>;
  /** Which of its objects are watched; all of them when left out. */
  readonly where?: { readonly namespace?: string; readonly labelSelector?: string };
  /** What is kept of an object (default: `withoutHistory`). */
  readonly trim?: (object: T) => T;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Whether the record of writers is not even decoded, because no one asks for it; it is half of a small object. */
  readonly withoutManagedFields?: boolean;
  /** For kinds with ten thousand objects: equal parts of different objects are kept once. */
  readonly isInterned?: boolean;
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * The object without the record of its writers and without kubectl's copy of what it applied, which is as long as the
 * object itself; the same object where it has neither.
 */
export function withoutHistory<T extends KubeObject>(object: T): T {
  const { managedFields, annotations } = object.metadata;
  const isApplied = annotations !== undefined && LAST_APPLIED in annotations;
  if (managedFields === undefined && !isApplied) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  if (!isApplied) return { ...object, metadata };
  const { [LAST_APPLIED]: __, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}
