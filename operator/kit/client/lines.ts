import type { Call, KubeExchange } from "./exchange.ts";
import type { KubeClient, LinesOptions } from "./kube-client.ts";
import { errorOfWire } from "./responses.ts";

/** Longer lines are cut to bound memory. */
const LONGEST_LINE_BYTES = 64 * 1024;
const NEWLINE = 10;

/** Line reader of the client. */
export function kubeLines(exchange: KubeExchange): Pick<KubeClient, "lines"> {
  return { lines: (path, query, options) => lines(exchange, { path, query }, options) };
}

async function* lines(
  exchange: KubeExchange,
  where: Pick<Call, "path" | "query">,
  { signal }: LinesOptions,
): AsyncGenerator<string> {
  const opened = await exchange.stream({ verb: "get", method: "GET", ...where }, signal);
  opened.bound.endDeadline();
  try {
    yield* textLines(opened.bytes);
  } catch (error) {
    throw errorOfWire(error, opened.bound.cutBy());
  } finally {
    opened.close();
  }
}

/**
 * Complete lines of a text, without line ends; an unfinished last line is dropped. Reads on when all lines are taken.
 */
export async function* textLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let open: Uint8Array[] = [];
  let openBytes = 0;
  const add = (piece: Uint8Array) => {
    const kept = piece.subarray(0, LONGEST_LINE_BYTES - openBytes);
    if (kept.length > 0) open.push(kept);
    openBytes += kept.length;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end));
      const line = Buffer.concat(open).toString("utf8");
      open = [];
      openBytes = 0;
      start = end + 1;
      yield line;
    }
    add(chunk.subarray(start));
  }
}
