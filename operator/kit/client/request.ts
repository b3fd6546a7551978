import type { ResourceType } from "./objects.ts";

/** A call's verb, as in Kubernetes' authorization. */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "version";

/** One call, as the interceptor sees it before HTTP. */
export interface KubeRequest {
  readonly verb: Verb;
  /** Absent for `version` and for plain text paths. */
  readonly type?: ResourceType;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly subresource?: string | undefined;
  /** The URL path without query, every segment encoded. */
  readonly path: string;
  /** Parameters; undefined ones are not sent. */
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** The response, as the interceptor sees it. */
export interface KubeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
  /** Replaces the body of a watch or a text: bytes, read after the interceptor has answered. */
  readonly stream?: AsyncIterable<Uint8Array>;
}

/**
 * Intercepts every attempt of every call: counts, delays, refuses, or kills the process after a write.
 *
 * Call `next()` to send the request. Throwing before it means that nothing was sent; after it, that the server acted
 * without the caller's knowledge. Answer the response of `next`, or another in its place. Each attempt of a retried
 * read passes separately.
 *
 * A watch may be answered with another `stream`, usually the given one with lines of `{"type": …, "object": …}`
 * omitted, repeated, reordered, delayed or added. To cut it, throw or return; to stall it, never yield: the client's
 * signal ends it.
 */
export type RequestInterceptor = (request: KubeRequest, next: () => Promise<KubeResponse>) => Promise<KubeResponse>;

/** True for verbs that change the server's state. */
export function isWrite(verb: Verb): boolean {
  return verb === "create" || verb === "update" || verb === "patch" || verb === "delete";
}
