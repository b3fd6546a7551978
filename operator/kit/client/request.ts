import type { ResourceType } from "./objects.ts";

/** What a call does, in the words of Kubernetes' own authorization. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "version";

/** One call as the seam sees it, before it becomes HTTP. */
export interface KubeRequest {
  readonly verb: Verb;
  /** Absent for `version` and for plain text paths. */
  readonly type?: ResourceType;
  readonly name?: string;
  readonly namespace?: string;
  readonly subresource?: string;
  /** The URL path without query, every segment encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The answer as the seam sees it. */
export interface KubeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Instead of a body, where a watch or a text was opened: its bytes, which are read after the seam has answered. */
  readonly stream?: AsyncIterable<Uint8Array>;
}

/**
 * Stands around every attempt of every call: counts, delays, refuses, or kills the process after a write.
 *
 * Call `next()` to send the request. Throwing before it means that nothing was sent; throwing after it means that the
 * server did it and the caller never learnt. It must answer what `next` answered, or another response in its place.
 * Successive attempts of one retried read pass through it one by one.
 *
 * A watch may be answered with another `stream`, usually one that reads the given one and leaves out, repeats, reorders,
 * holds back or adds lines of `{"type": …, "object": …}`. To cut it, let it throw or return; to stall it, never yield: the
 * client ends it with its own signal.
 */
export type RequestSeam = (request: KubeRequest, next: () => Promise<KubeResponse>) => Promise<KubeResponse>;

/** True for the verbs that change something on the server. */
export function isWrite(verb: Verb): boolean {
  return verb === "create" || verb === "update" || verb === "patch" || verb === "delete";
}
