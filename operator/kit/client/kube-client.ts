import type { Draft, KubeObject, ObjectRef, ResourceType } from "./objects.ts";

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

interface ReadOptions extends CallOptions {
  /** Fetches only the metadata: for objects whose content must not be seen, such as Secrets. */
  readonly metadataOnly?: boolean;
}

export interface ListOptions<T = KubeObject> extends ReadOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** One of the few fields that the API server supports. */
  readonly fieldSelector?: string;
  /** Objects per page (default 100); pages are gathered first. */
  readonly limit?: number;
  /** Trims each object as its page arrives, so that only one page is held in full. */
  readonly keep?: (object: T) => T;
  readonly onPage?: () => void;
}

export interface ListResult<T> {
  readonly items: readonly T[];
  /** Start for a watch. */
  readonly resourceVersion: string;
}

interface CreateOptions extends CallOptions {
  /** Everything but the storing, refusals included. */
  readonly dryRun?: boolean;
}

interface PatchOptions extends CallOptions {
  /** Name such as `status`. */
  readonly subresource?: string;
  /**
   * `merge` is RFC 7386, `json` is RFC 6902 (a list of operations). `apply` creates a missing object and takes its
   * fields from other managers: https://kubernetes.io/docs/reference/using-api/server-side-apply/
   */
  readonly as: "merge" | "json" | "apply";
}

export interface DeleteOptions extends CallOptions {
  /** Preconditions: 409 when the object differs or has changed. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Seconds for a pod's containers to stop. Shortens a running deletion, never lengthens it. */
  readonly gracePeriodSeconds?: number;
}

export interface WatchOptions {
  /**
   * Version after which events are delivered. Absent: the watch begins with an ADDED event for every existing object,
   * and a bookmark with the annotation `k8s.io/initial-events-end`; a server may refuse that.
   */
  readonly resourceVersion?: string;
  /** Seconds after which the server ends the watch. */
  readonly timeoutSeconds: number;
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  /** Leaves `managedFields` empty: a third less decoding (default false). */
  readonly withoutManagedFields?: boolean;
  readonly signal: AbortSignal;
  /** Called for every chunk, partial events included: proof of a live connection. */
  readonly onBytes?: () => void;
}

/** One raw event; an `ERROR` event's object is a `Status`. */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR" | (string & {});
  readonly object: T;
}

export interface TextOptions extends CallOptions {
  /** Reading stops after this many bytes; the text so far is answered. */
  readonly limitBytes: number;
  /** Requested media type; any by default. */
  readonly accept?: string;
}

/**
 * The Kubernetes API over pooled connections.
 *
 * Every call has a deadline and fails with a KubeError. Reads are retried a few times on 429, 503 and network failures,
 * respecting `Retry-After`; writes never are, because only the caller knows whether repeating one is safe.
 */
export interface KubeClient {
  find<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, options?: ReadOptions): Promise<T | undefined>;
  /** All objects, page by page; restarts after an expired page token. A consistent read. `listWatch` costs less. */
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions<T>): Promise<ListResult<T>>;
  /** Creates an object; unknown fields are refused. Nameless kinds, such as a review, say "". */
  create<T extends KubeObject>(type: ResourceType<T>, draft: Draft<T>, options?: CreateOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, body: unknown, options: PatchOptions): Promise<T>;
  /** Replaces the object; its `resourceVersion` is the precondition. */
  replace<T extends KubeObject>(type: ResourceType<T>, draft: Draft<T>, options?: CallOptions): Promise<T>;
  /** `"gone"` when nothing is left (or was there); otherwise the terminating object. */
  delete<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, options?: DeleteOptions): Promise<T | "gone">;
  /** Raw events until the server ends the stream; a broken stream throws, an abort ends it quietly. Never retried. */
  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Text at a path of the API server, such as a pod's log. The path's segments must be encoded. */
  text(path: string, query: Readonly<Record<string, string>>, options: TextOptions): Promise<string>;
  /**
   * Lines of such a text as they arrive, until the server ends it. As with a watch, only the first response has a
   * deadline; a broken stream throws, also on abort (`Aborted`). A line beyond 64 KiB is cut. Never retried.
   */
  lines(path: string, query: Readonly<Record<string, string>>, options: Required<CallOptions>): AsyncIterable<string>;
  /** The API server's clock (whole seconds), for decisions that must not trust ours alone. */
  serverTime(options?: CallOptions): Promise<Date>;
  close(): Promise<void>;
}
