import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { BadGitAnswer } from "./packets.ts";

const KINDS = ["none", "commit", "tree", "blob", "tag"] as const;

/** An object of git, https://git-scm.com/book/en/v2/Git-Internals-Git-Objects. */
export interface GitObject {
  readonly kind: (typeof KINDS)[number];
  /** Bytes of its content, as the pack says. */
  readonly size: number;
  /** Unpacks it, and checks it by its name. @throws BadGitAnswer for another one */
  content(): Buffer;
}

const SIGNATURE = "PACK";
const HEADER_BYTES = 12;
const SHA256_DIGITS = 64;

/**
 * The one object of a pack. https://git-scm.com/docs/pack-format
 *
 * @param name hash of the object, in hexadecimal digits
 * @throws BadGitAnswer for no pack, and for one of several objects
 */
export function onlyObject(pack: Buffer, name: string): GitObject {
  if (pack.length <= HEADER_BYTES || pack.toString("latin1", 0, SIGNATURE.length) !== SIGNATURE) {
    throw new BadGitAnswer("its answer is no pack");
  }
  const count = pack.readUInt32BE(SIGNATURE.length + 4);
  if (count !== 1) throw new BadGitAnswer(`its answer has ${count} objects in place of one`);
  const { kind, size, end } = headerAt(pack, HEADER_BYTES);
  return {
    kind,
    size,
    content() {
      const content = inflated(pack.subarray(end), size);
      const hash = createHash(name.length === SHA256_DIGITS ? "sha256" : "sha1");
      const found = hash.update(`${kind} ${size}\0`).update(content).digest("hex");
      if (found !== name) throw new BadGitAnswer("its answer is another object");
      return content;
    },
  };
}

/** Type and size: three bits, and a number of seven bits a byte after the first four. */
function headerAt(pack: Buffer, start: number) {
  let byte = pack.readUInt8(start);
  const kind = KINDS[(byte >> 4) & 7];
  if (kind === undefined || kind === "none") throw new BadGitAnswer("its answer is not a whole object");
  let size = byte & 15;
  let end = start + 1;
  for (let unit = 2 ** 4; byte & 0x80 && end < pack.length; unit *= 2 ** 7) {
    byte = pack.readUInt8(end++);
    size += (byte & 0x7f) * unit;
  }
  return { kind, size, end };
}

/** @param size at least the bytes of the content, which bounds the memory */
function inflated(packed: Buffer, size: number): Buffer {
  try {
    return inflateSync(packed, { maxOutputLength: Math.max(size, 1) });
  } catch (cause) {
    throw new BadGitAnswer("its answer can't be unpacked", { cause });
  }
}
