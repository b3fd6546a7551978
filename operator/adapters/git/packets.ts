/** Violation of git's protocol; the message is a sentence for people. */
export class BadGitAnswer extends Error {
  override readonly name = "BadGitAnswer";
}

/** An answer beyond the limit. */
export class GitAnswerTooLong extends BadGitAnswer {}

const HEADER_BYTES = 4;
const FLUSH = 0;
const DELIMITER = 1;

/**
 * Accepts an answer of whole packets with a final flush packet, and refuses every other.
 *
 * isomorphic-git takes a truncated answer, and a host's own `ERR` too, for the end of the list. The rules:
 * https://git-scm.com/docs/protocol-common#_pkt_line_format and https://git-scm.com/docs/pack-protocol.
 *
 * @throws BadGitAnswer when the answer is cut, no packets at all, or the host's refusal
 */
export function assertWholeAnswer(answer: Buffer): void {
  let last: number | undefined;
  for (let at = 0; at < answer.length; ) {
    last = packetLength(answer, at);
    const end = at + Math.max(last, HEADER_BYTES);
    if (end > answer.length) throw tooEarly();
    const payload = answer.toString("latin1", at + HEADER_BYTES, end);
    if (payload.startsWith("ERR ")) throw new BadGitAnswer("it refuses the question");
    at = end;
  }
  if (last !== FLUSH) throw tooEarly();
}

/** The payloads of a whole answer; those of delimiters and flush packets are empty. */
export function* payloadsOf(answer: Buffer): Generator<Buffer> {
  for (let at = 0; at < answer.length; ) {
    const end = at + Math.max(packetLength(answer, at), HEADER_BYTES);
    yield answer.subarray(at + HEADER_BYTES, end);
    at = end;
  }
}

/** A packet with that payload. */
export function packetOf(payload: string): string {
  const header = (Buffer.byteLength(payload) + HEADER_BYTES).toString(16).padStart(HEADER_BYTES, "0");
  return header + payload;
}

/** The length of the packet there, header included; special packets have lengths below that of a header. */
export function packetLength(answer: Buffer, at: number): number {
  const header = answer.toString("latin1", at, at + HEADER_BYTES);
  if (header.length < HEADER_BYTES) throw tooEarly();
  const length = /^[0-9a-f]{4}$/i.test(header) ? Number.parseInt(header, 16) : Number.NaN;
  if (length >= HEADER_BYTES || length === FLUSH || length === DELIMITER) return length;
  throw new BadGitAnswer("its answer is not git's protocol");
}

function tooEarly(): BadGitAnswer {
  return new BadGitAnswer("its answer ends too early");
}
