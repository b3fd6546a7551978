import type { KubeObject, ResourceType } from "../client/objects.ts";
import type { IndexFunction } from "./cache-index.ts";

/** A watched kind: selection, trimming and indexes. */
export interface WatchedKind<T extends KubeObject> {
  readonly type: ResourceType<T>;
  /** Selects the watched objects; all when absent. */
  readonly where?: { readonly namespace?: string; readonly labelSelector?: string };
  readonly trim?: (object: T) => T;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** Skips the decoding of `managedFields`, half of a small object, when unused. */
  readonly withoutManagedFields?: boolean;
  /** True when equal parts are shared: for kinds with ten thousand objects. */
  readonly isInterned?: boolean;
}

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The object without `managedFields` and kubectl's last-applied copy, or the same instance without either. */
export function withoutHistory<T extends KubeObject>(object: T): T {
  const { managedFields, annotations } = object.metadata;
  const isApplied = annotations !== undefined && LAST_APPLIED in annotations;
  if (managedFields === undefined && !isApplied) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  if (!isApplied) return { ...object, metadata };
  const { [LAST_APPLIED]: __, ...kept } = annotations;
  return { ...object, metadata: { ...metadata, annotations: kept } };
}
