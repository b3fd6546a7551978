import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type TSchema, Type } from "typebox";
import { WebhookMalformed } from "../../operator/ports/api/webhook-inbox.ts";

/** A JSON body in its original bytes, which a signature covers. Only size and nesting are bounded. */
export interface RawBody {
  readonly bytes: Buffer;
  /** All headers of the request, in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Counts the request for this sender, where the contract's rate is `sender`. @throws HttpError (rate-limited) */
  countFor(sender: string): Promise<void>;
}

/** A JSON body that its handler reads and bounds during its arrival. */
export interface ArrivingBody extends Omit<RawBody, "bytes"> {
  /** Throws WebhookMalformed when the sender disconnects before the end. */
  readonly chunks: AsyncIterable<Buffer>;
}

/** Limit of a whole body. */
export const MAX_RAW_BYTES = 1_048_576;
/** Marks a schema that only documents a body. */
export const RAW_KEYWORD = "x-raw-body";

/** Body in its original bytes; the schema documents it. */
export const rawBody = (schema: TSchema) => Type.Unsafe<RawBody>({ ...schema, [RAW_KEYWORD]: true });

const ARRIVING = "arriving";

/** Body that the handler reads during its arrival; the schema documents it. */
export const arrivingBody = (schema: TSchema) => Type.Unsafe<ArrivingBody>({ ...schema, [RAW_KEYWORD]: ARRIVING });

/** True for a body that the handler reads during its arrival. */
export function isArriving(body: TSchema | undefined): boolean {
  return body !== undefined && (body as { readonly [RAW_KEYWORD]?: unknown })[RAW_KEYWORD] === ARRIVING;
}

/** Chunks of a request's body. The request stays open for its answer when they are not read to the end. */
export async function* chunksOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (cause) {
    throw new WebhookMalformed("The body was cut off", { cause });
  }
}

/** True for a body in its original bytes. */
export function isRaw(body: TSchema | undefined): boolean {
  return body !== undefined && RAW_KEYWORD in body;
}
