/** Cache size, and the longest cached rest in characters: each kind has a few rests, shared by all its objects. */
const REMEMBERED = 32;
const LONGEST_REMEMBERED = 8_192;

const BEGIN = Buffer.from('"managedFields":[{');
const END = Buffer.from("}]");
const COMMA = 0x2c;
/** Follows `managedFields` where they come last in the metadata, as in all built-in kinds. */
const END_OF_METADATA = '},"';

interface Line {
  object?: object;
}

type Decode = (line: Uint8Array) => unknown;

/**
 * Decodes watch events without `managedFields`.
 *
 * Cuts the list out before decoding. Its objects hold no lists, so its end is the first text that looks like one. Where
 * that text is inside a string, invalid JSON is left.
 *
 * The rest after the metadata is equal for thousands of objects: decoded once, then frozen and shared.
 *
 * @param whole decodes a line without a cut
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
      // Closes the metadata, the object and the event.
      const event = JSON.parse(`${head}}}}`) as Line;
      Object.assign(event.object as object, decodedRest(rest));
      return event;
    } catch {
      return whole(line);
    }
  };
}

/** Texts before and after a field, with one comma less. */
function around(bytes: Buffer, begin: number, end: number): { readonly head: string; readonly rest: string } {
  const isLast = bytes[end] !== COMMA;
  const headEnd = isLast && bytes[begin - 1] === COMMA ? begin - 1 : begin;
  return { head: bytes.toString("utf8", 0, headEnd), rest: bytes.toString("utf8", isLast ? end : end + 1) };
}

function frozen(rest: object): object {
  for (const field of Object.values(rest)) Object.freeze(field);
  return rest;
}

/** The bytes as a Buffer, without a copy. */
export const bytesOf = (line: Uint8Array) => Buffer.from(line.buffer, line.byteOffset, line.length);
