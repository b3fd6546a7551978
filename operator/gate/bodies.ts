import type { IncomingMessage } from "node:http";

/** Longest body of a request that waits. */
const BODY_LIMIT_BYTES = 2 ** 20;
/** Memory for the bodies of all requests that wait. */
const ROOM_BYTES = 32 * 2 ** 20;

/** Memory for bodies, taken and given back. */
export class BodyRoom {
  #left = ROOM_BYTES;

  /** False when there is no room for that much more. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#left += bytes;
  }
}

/** A body in memory. */
export interface KeptBody {
  readonly bytes: Buffer;
  release(): void;
}

/** Reads a body whole; `undefined` when it is too long, ends early, or there is no room. */
export async function readBody(request: IncomingMessage, room: BodyRoom): Promise<KeptBody | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  const isTooLong = Number(request.headers["content-length"] ?? 0) > BODY_LIMIT_BYTES;
  if (isTooLong) return undefined;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      const hasRoom = length + chunk.length <= BODY_LIMIT_BYTES && room.take(chunk.length);
      if (!hasRoom) break;
      length += chunk.length;
      chunks.push(chunk);
    }
  } catch {
    // The client went away.
  }
  if (request.complete) return { bytes: Buffer.concat(chunks), release: () => room.release(length) };
  room.release(length);
  return undefined;
}

/** Headers of one connection. https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const OF_CONNECTION = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
]);

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Headers that are passed on: those of the message, without those of its connection and those that it names. */
export function endToEnd(headers: Headers): Record<string, string | string[]> {
  const named = String(headers.connection ?? "").toLowerCase();
  const ofConnection = new Set([...OF_CONNECTION, ...named.split(",").map((name) => name.trim())]);
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !ofConnection.has(name));
  return Object.fromEntries(kept) as Record<string, string | string[]>;
}
