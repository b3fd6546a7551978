import { KeptBytes } from "./kept-bytes.ts";

/** Bytes of one body while it arrives, held in memory that it shares with others. */
export interface HeldBytes {
  readonly length: number;
  /** @returns false, with nothing added, when the shared memory is used up */
  add(bytes: Buffer): boolean;
  /** Ordered pieces. */
  pieces(): readonly Buffer[];
  /** Frees the memory. */
  drop(): void;
}

/** Memory for many bodies at once. */
export interface BodyMemory {
  begin(): HeldBytes;
}

/** Bytes of each body that do not count as shared: most requests need no more. */
const OWN_BYTES = 65_536;

/**
 * Bounds what all bodies together hold beyond 64 KiB of each: many senders at once, each slow, must not fill the process.
 *
 * @param mostBytes bound of the shared memory
 */
export function bodyMemory(mostBytes: number): BodyMemory {
  let taken = 0;
  return {
    begin() {
      let bytes = new KeptBytes();
      let shared = 0;
      return {
        get length() {
          return bytes.length;
        },
        add(chunk) {
          const more = Math.max(0, bytes.length + chunk.length - OWN_BYTES) - shared;
          if (more > 0 && taken + more > mostBytes) return false;
          taken += more;
          shared += more;
          bytes.add(chunk);
          return true;
        },
        pieces: () => bytes.pieces(),
        drop() {
          taken -= shared;
          shared = 0;
          bytes = new KeptBytes();
        },
      };
    },
  };
}
