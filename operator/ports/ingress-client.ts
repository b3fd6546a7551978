import type { Readable } from "node:stream";

/** A request as it is passed on, its body whole. */
export interface PassedRequest {
  readonly method: string;
  /** Path with query. */
  readonly target: string;
  /** Headers without those of the connection. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer;
}

/** The ingress's answer; its body is still to be read. */
export interface PassedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

/** Requests to hosts of environments through the ingress, as their users send them. */
export interface IngressClient {
  /** Sends the request once, and never again. Rejects when no answer begins before the signal aborts. */
  send(host: string, request: PassedRequest, signal: AbortSignal): Promise<PassedReply>;
  close(): void;
}
