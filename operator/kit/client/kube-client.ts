import type { Draft, KubeObject, ObjectRef, ResourceType } from "./objects.ts";

/** What every call accepts. */
export interface CallOptions {
  /** Ends the call early: it fails with reason `Aborted`. */
  readonly signal?: AbortSignal;
}

export interface ReadOptions extends CallOptions {
  /** Leaves everything but the metadata on the server: for objects whose content we need not see, such as Secrets. */
  readonly metadataOnly?: boolean;
}

export interface ListOptions<T = KubeObject> extends ReadOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Of the few fields that the API server selects by. */
  readonly fieldSelector?: string;
  /** Objects a page (default 100); pages are gathered before the answer. */
  readonly limit?: number;
  /** What is gathered of each object, as its page comes in: no more than a page is ever held in full. */
  readonly keep?: (object: T) => T;
  /** Called for every page that has come in, also for an empty one. */
  readonly onPage?: () => void;
}

export interface ListResult<T> {
  readonly items: readonly T[];
  /** Where a watch may begin. */
  readonly resourceVersion: string;
}

export interface CreateOptions extends CallOptions {
  /** Everything happens but the storing: what would refuse the object refuses it. */
  readonly dryRun?: boolean;
}

export interface PatchOptions extends CallOptions {
  /** Such as `status`. */
  readonly subresource?: string;
  /**
   * `merge` is RFC 7386, `json` is RFC 6902 (a list of operations). `apply` makes what is not there, and takes its fields from
   * other managers: https://kubernetes.io/docs/reference/using-api/server-side-apply/
   */
  readonly as: "merge" | "json" | "apply";
}

export interface DeleteOptions extends CallOptions {
  /** Preconditions: 409 when the object is another one, or has changed. */
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** Of a pod: how long its containers may take to stop. It shortens a deletion that has begun, and never lengthens one. */
  readonly gracePeriodSeconds?: number;
}

export interface WatchOptions {
  /**
   * The version after which events are wanted. Absent: the watch begins with everything that there is now, an ADDED event
   * each, and a bookmark whose annotation `k8s.io/initial-events-end` says that this was all; a server may refuse that.
   */
  readonly resourceVersion?: string;
  /** When the server is to end the watch. */
  readonly timeoutSeconds: number;
  readonly namespace?: string;
  readonly labelSelector?: string;
  /** Leaves `managedFields` empty, which saves a third of the decoding (default false). */
  readonly withoutManagedFields?: boolean;
  /** Ends the stream and its connection. */
  readonly signal: AbortSignal;
  /** Called for every chunk of bytes, also those that hold no whole event: the proof that the connection lives. */
  readonly onBytes?: () => void;
}

/** One event as it came; an `ERROR` event's object is a `Status`. */
export interface WatchEvent<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR" | (string & {});
  readonly object: T;
}

export interface LinesOptions {
  /** Ends the stream and its connection. */
  readonly signal: AbortSignal;
}

export interface TextOptions extends CallOptions {
  /** Reading stops after so many bytes; what was read is answered. */
  readonly limitBytes: number;
  /** The form in which it is wanted, as a media type; any by default. */
  readonly accept?: string;
}

/**
 * The Kubernetes API over pooled connections.
 *
 * Every call has a deadline and fails with a KubeError. Reads are retried on 429, 503 and network failures, a few times
 * and with respect for `Retry-After`; writes never are, because only the caller knows whether doing it twice is safe.
 */
export interface KubeClient {
  /** The object, or undefined when there is none. */
  find<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, options?: ReadOptions): Promise<T | undefined>;
  /** All objects, page by page; starts again when a page token has expired. A consistent read. `listWatch` costs less. */
  list<T extends KubeObject>(type: ResourceType<T>, options?: ListOptions<T>): Promise<ListResult<T>>;
  /** Makes a new object; unknown fields are refused. What has no name, such as a review, says "". */
  create<T extends KubeObject>(type: ResourceType<T>, draft: Draft<T>, options?: CreateOptions): Promise<T>;
  patch<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, body: unknown, options: PatchOptions): Promise<T>;
  /** Writes the whole object; its `resourceVersion` is the precondition. */
  replace<T extends KubeObject>(type: ResourceType<T>, draft: Draft<T>, options?: CallOptions): Promise<T>;
  /** `"gone"` when nothing is left (or was there); otherwise the object, now terminating. */
  delete<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, options?: DeleteOptions): Promise<T | "gone">;
  /** Raw events until the server ends the stream; a broken stream throws, an abort ends it quietly. Never retried. */
  watch<T extends KubeObject>(type: ResourceType<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** The text at a path of the API server, such as a pod's log. The path's segments must be encoded already. */
  text(path: string, query: Readonly<Record<string, string>>, options: TextOptions): Promise<string>;
  /**
   * The lines of such a text as they come, until the server ends it. As with a watch, only the first answer has a deadline;
   * a broken stream throws, also when the signal ends it (`Aborted`). A line beyond 64 KiB is cut. Never retried.
   */
  lines(path: string, query: Readonly<Record<string, string>>, options: LinesOptions): AsyncIterable<string>;
  /** The API server's own clock (whole seconds), for decisions that must not trust ours alone. */
  serverTime(options?: CallOptions): Promise<Date>;
  /** Ends all connections; calls in flight fail. */
  close(): Promise<void>;
}
