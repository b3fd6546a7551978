import { KubeError } from "./errors.ts";

/** Longer than any object that etcd accepts (1.5 MiB by default), with room for its JSON. */
const LONGEST_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 10;

export interface JsonLinesOptions {
  /** Called for every chunk. */
  readonly onBytes?: () => void;
  /** Leaves `managedFields` empty: they are a third of what there is to decode. */
  readonly withoutManagedFields?: boolean;
}

/**
 * The JSON values of a stream of lines.
 *
 * Lines are cut on bytes, because a UTF-8 sequence may span two chunks. The next chunk is asked for only when the
 * consumer has taken all values of the previous one.
 * @throws KubeError with reason `BrokenStream` for a line that is no JSON, is too long, or was cut off by the end
 */
export async function* jsonLines(
  chunks: AsyncIterable<Uint8Array>,
  { onBytes, withoutManagedFields = false }: JsonLinesOptions = {},
): AsyncGenerator<unknown> {
  const decoded = withoutManagedFields ? parsedWithoutManagedFields : parsed;
  let open: Uint8Array[] = [];
  let openBytes = 0;
  for await (const chunk of chunks) {
    onBytes?.();
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line = joined(open, chunk.subarray(start, end));
      open = [];
      openBytes = 0;
      start = end + 1;
      if (line.length > 0) yield decoded(line);
    }
    open.push(chunk.subarray(start));
    openBytes += chunk.length - start;
    if (openBytes > LONGEST_LINE_BYTES) throw broken(new RangeError("a line exceeds 8 MiB"));
  }
  if (openBytes > 0) throw broken(new RangeError("the stream ended within a line"));
}

/** Most lines lie in one chunk. */
const joined = (open: readonly Uint8Array[], rest: Uint8Array) =>
  open.length === 0 ? rest : Buffer.concat([...open, rest]);

const MANAGED_FIELDS = '"managedFields":[{';
const END_OF_MANAGED_FIELDS = "}]";

/**
 * Cuts the list out before the line is decoded. Its objects hold no lists, so its end is the first text that looks like
 * one. Where that text is part of a string, half a string is left, which is no JSON, and the whole line is decoded.
 */
function parsedWithoutManagedFields(line: Uint8Array): unknown {
  const text = textOf(line);
  const begin = text.indexOf(MANAGED_FIELDS);
  const end = begin < 0 ? -1 : text.indexOf(END_OF_MANAGED_FIELDS, begin);
  if (end < 0) return parsed(line);
  try {
    return JSON.parse(text.slice(0, begin + MANAGED_FIELDS.length - 1) + text.slice(end + 1));
  } catch {
    return parsed(line);
  }
}

function parsed(line: Uint8Array): unknown {
  try {
    return JSON.parse(textOf(line));
  } catch {
    // The parser's own message quotes the line, which may hold a Secret.
    throw broken(new SyntaxError("a line is not JSON"));
  }
}

const textOf = (line: Uint8Array) => Buffer.from(line.buffer, line.byteOffset, line.length).toString("utf8");

function broken(cause: Error): KubeError {
  return new KubeError({ status: 0, reason: "BrokenStream", cause });
}
