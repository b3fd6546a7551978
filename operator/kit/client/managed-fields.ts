/** Rests that are remembered, and the longest of them, in characters: of each kind there are a few, of which all objects have one. */
const REMEMBERED = 32;
const LONGEST_REMEMBERED = 8_192;

const BEGIN = Buffer.from('"managedFields":[{');
const END = Buffer.from("}]");
const COMMA = 0x2c;
/** What follows where `managedFields` are the last of the metadata, as in all kinds of Kubernetes itself. */
const END_OF_METADATA = '},"';

interface Line {
  object?: object;
}

type Decode = (line: Uint8Array) => unknown;

/**
 * Decodes events of a watch without `managedFields`.
 *
 * The list is cut out before a line is decoded. Its objects hold no lists, so its end is the first text that looks like
 * one. Where that text is part of a string, half a string is left, which is no JSON.
 *
 * What follows the metadata is the same for thousands of objects: it is decoded once, and then frozen and shared.
 *
 * @param whole decodes a line in which nothing can be cut out
 */
export function decoderWithoutManagedFields(whole: Decode): Decode {
  const known = new Map<string, object>();

  const decodedRest = (rest: string): object => {
    const shared = known.get(rest);
    if (shared !== undefined) return frozen(shared);
    const decoded = JSON.parse(`{${rest.slice(END_OF_METADATA.length - 1, -1)}`) as object;
    if (known.size === REMEMBERED) known.clear();
    if (rest.length <= LONGEST_REMEMBERED) known.set(rest, decoded);
    return decoded;
  };

  return (line) => {
    const bytes = bytesOf(line);
    const begin = bytes.indexOf(BEGIN);
    const end = begin < 0 ? -1 : bytes.indexOf(END, begin);
    if (end < 0) return whole(line);
    const { head, rest } = around(bytes, begin, end + END.length);
    try {
      if (!rest.startsWith(END_OF_METADATA)) return JSON.parse(head + rest);
      // The ends of the metadata, of the object and of the event.
      const event = JSON.parse(`${head}}}}`) as Line;
      Object.assign(event.object as object, decodedRest(rest));
      return event;
    } catch {
      return whole(line);
    }
  };
}

/** The texts before and after a field, of which one keeps no comma. */
function around(bytes: Buffer, begin: number, end: number): { readonly head: string; readonly rest: string } {
  const isLast = bytes[end] !== COMMA;
  const headEnd = isLast && bytes[begin - 1] === COMMA ? begin - 1 : begin;
  return { head: bytes.toString("utf8", 0, headEnd), rest: bytes.toString("utf8", isLast ? end : end + 1) };
}

/** Its fields are shared from now on. */
function frozen(rest: object): object {
  for (const field of Object.values(rest)) Object.freeze(field);
  return rest;
}

/** The bytes as a Buffer, without a copy. */
export const bytesOf = (line: Uint8Array) => Buffer.from(line.buffer, line.byteOffset, line.length);
