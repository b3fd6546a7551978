import type { GitHttpRequest } from "isomorphic-git";

/** True for the request for the capability advertisement, which precedes commands: https://git-scm.com/docs/http-protocol. */
export function isAdvertisementRequest({ method }: GitHttpRequest): boolean {
  return method !== "POST";
}

/** The bytes of a request's or a reply's body, not copied if they are one piece already. */
export async function wholeBody(body: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const pieces = await Array.fromAsync(body ?? []);
  const [piece] = pieces;
  return pieces.length === 1 && Buffer.isBuffer(piece) ? piece : Buffer.concat(pieces);
}

/** Bytes as the body of a request or a reply. */
export async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
