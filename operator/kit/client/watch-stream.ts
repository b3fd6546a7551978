import { KubeError } from "./errors.ts";
import { bytesOf, decoderWithoutManagedFields } from "./managed-fields.ts";

/** Longer than any object that etcd accepts (1.5 MiB by default), as JSON. */
const LONGEST_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 10;

export interface JsonLinesOptions {
  readonly onBytes?: () => void;
  /** Leaves out `managedFields`, a third of the decoding. Equal rests of objects may be shared, then frozen. */
  readonly withoutManagedFields?: boolean;
}

/**
 * JSON values of a stream of lines, grouped by the chunk that ends them: no await per value.
 *
 * Lines are cut on bytes, because a UTF-8 sequence may span two chunks. A line is decoded when its value is taken; the
 * next chunk is requested when the consumer has taken all values, which it must.
 * @throws KubeError with reason `BrokenStream` for a line that is no JSON, too long, or cut off by the end
 */
export async function* jsonLines(
  chunks: AsyncIterable<Uint8Array>,
  { onBytes, withoutManagedFields = false }: JsonLinesOptions = {},
): AsyncGenerator<Iterable<unknown>> {
  const decoded = withoutManagedFields ? decoderWithoutManagedFields(parsed) : parsed;
  let open: Uint8Array[] = [];
  let openBytes = 0;
  function* ended(chunk: Uint8Array): Generator<unknown> {
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
  }
  for await (const chunk of chunks) {
    onBytes?.();
    yield ended(chunk);
    if (openBytes > LONGEST_LINE_BYTES) throw broken(new RangeError("a line exceeds 8 MiB"));
  }
  if (openBytes > 0) throw broken(new RangeError("the stream ended within a line"));
}

/** Most lines lie in one chunk. */
const joined = (open: readonly Uint8Array[], rest: Uint8Array) =>
  open.length === 0 ? rest : Buffer.concat([...open, rest]);

function parsed(line: Uint8Array): unknown {
  try {
    return JSON.parse(bytesOf(line).toString("utf8"));
  } catch {
    // The parser's own message quotes the line, which may hold a Secret.
    throw broken(new SyntaxError("a line is not JSON"));
  }
}

function broken(cause: Error): KubeError {
  return new KubeError({ status: 0, reason: "BrokenStream", cause });
}
