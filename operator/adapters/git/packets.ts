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

/** The host's object format; `undefined` when unstated, which means SHA-1. */
export function objectFormatOf(capabilities: Buffer): string | undefined {
  return /object-format=(\w+)/.exec(capabilities.toString("latin1"))?.[1];
}

/**
 * Adds the host's object format to a request of protocol 2; a host that states none would refuse it.
 *
 * isomorphic-git omits it, and git then hangs up for every repository but a SHA-1 one:
 * https://git-scm.com/docs/protocol-v2#_object_format.
 */
export function withObjectFormat(question: Buffer, format: string | undefined): Buffer {
  if (format === undefined) return question;
  const afterCommand = packetLength(question, 0);
  return Buffer.concat([
    question.subarray(0, afterCommand),
    Buffer.from(packetOf(`object-format=${format}\n`)),
    question.subarray(afterCommand),
  ]);
}

function packetLength(answer: Buffer, at: number): number {
  const header = answer.toString("latin1", at, at + HEADER_BYTES);
  if (header.length < HEADER_BYTES) throw tooEarly();
  const length = /^[0-9a-f]{4}$/i.test(header) ? Number.parseInt(header, 16) : Number.NaN;
  if (length >= HEADER_BYTES || length === FLUSH || length === DELIMITER) return length;
  throw new BadGitAnswer("its answer is not git's protocol");
}

function tooEarly(): BadGitAnswer {
  return new BadGitAnswer("its answer ends too early");
}

/** Bytes as the body of a request or an answer. */
export async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
