/** A manager's last write: https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management */
export interface ManagedFields {
  readonly manager?: string;
  /** Precision: seconds. */
  readonly time?: string;
  readonly subresource?: string;
  readonly fieldsV1?: object;
}

interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** Metadata of a stored object. Timestamps are RFC 3339 strings. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  /** Opaque: compare for equality only. */
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  /** Seconds between the deletion request and the timestamp, for a terminating object. */
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
  readonly managedFields?: readonly ManagedFields[];
}

/** Any stored object; kinds extend it with `spec`, `status`, `data` and so on. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
}

/** An object to send: the client fills in `apiVersion` and `kind`. A `uid` or `resourceVersion` is a precondition. */
export type Draft<T extends KubeObject> = Omit<T, "apiVersion" | "kind" | "metadata" | "status"> & {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Partial<ObjectMeta> & Pick<ObjectMeta, "name">;
  readonly status?: unknown;
};

/** Identity of a kind; `T` is the type of its objects. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** API group; the empty string is the core group. */
  readonly group: string;
  readonly version: string;
  /** Lower-case plural of the URL, such as `configmaps`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never present at run time: ties `T` to the value, so that `find(configMaps, …)` answers a ConfigMap. */
  readonly object?: T;
}

/** Names one object of a kind. */
export interface ObjectRef {
  readonly name: string;
  /** Required for namespaced kinds, absent for cluster-scoped ones. */
  readonly namespace?: string;
}

/** Variable parts of a resource path; without `name`, the collection. */
interface PathParts {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
}

/** Declares a kind and its objects' type: `resourceType<ConfigMap>({group: "", version: "v1", …})`. */
export function resourceType<T extends KubeObject>(facts: Omit<ResourceType<T>, "object">): ResourceType<T> {
  return Object.freeze({ ...facts });
}

/** `apiVersion` of a kind: `group/version`, or the bare version in the core group. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/** True when the object states this kind. */
export function isOfType({ apiVersion, kind }: KubeObject, type: ResourceType): boolean {
  return kind === type.kind && apiVersion === apiVersionOf(type);
}

/**
 * URL path of a collection or an object, every segment encoded, so that no name can leave its segment.
 *
 * Without a namespace, a namespaced kind's path is the collection across all namespaces.
 * @throws TypeError for a name without the namespace of a namespaced kind, or a segment that is empty or `.`/`..`
 */
export function resourcePath(type: ResourceType, parts: PathParts = {}): string {
  const { name, namespace, subresource } = parts;
  if (name !== undefined && type.namespaced && namespace === undefined) {
    throw new TypeError(`${type.kind} is namespaced: its path needs a namespace`);
  }
  const root = type.group === "" ? ["api", type.version] : ["apis", type.group, type.version];
  const place = type.namespaced && namespace !== undefined ? ["namespaces", namespace] : [];
  const object = name === undefined ? [] : [name, ...(subresource === undefined ? [] : [subresource])];
  return `/${[...root, ...place, type.plural, ...object].map(segment).join("/")}`;
}

/** Key of an object in caches and queues: `namespace/name`, or `name` for cluster-scoped kinds. */
export function keyOf(object: { readonly metadata: ObjectRef }): string {
  return keyOfRef(object.metadata);
}

/** Key of a reference: `namespace/name`, or `name` without a namespace. */
export function keyOfRef(ref: ObjectRef): string {
  return ref.namespace === undefined || ref.namespace === "" ? ref.name : `${ref.namespace}/${ref.name}`;
}

/** Drops fields other than the reference, such as the rest of metadata. */
export function refOf({ name, namespace }: ObjectRef): ObjectRef {
  return namespace === undefined ? { name } : { name, namespace };
}

/** `.` and `..` survive percent-encoding, and URL parsers resolve them, so they are refused. */
function segment(text: string): string {
  if (text === "" || text === "." || text === "..") throw new TypeError("a path segment is empty or a dot");
  return encodeURIComponent(text);
}
