import { InboxFull } from "../ports/api/webhook-inbox.ts";

/** Held bytes of each body; a larger one must name its repository first, or uses the shared memory. */
const SMALL_BYTES = 1_048_576;
const ROOM_BYTES = 67_108_864;
const RETRY_SECONDS = 10;

/** Raw bytes of one body, held until the key is known. */
export interface HeldBody {
  /** True beyond the limit of each body. */
  readonly isLarge: boolean;
  /** @throws InboxFull when the memory is used up */
  add(bytes: Buffer): void;
  pieces(): readonly Buffer[];
  /** Frees the memory. */
  drop(): void;
}

export interface HeldBodies {
  begin(): HeldBody;
}

/** Store of bodies, with memory for a few large ones. */
export function heldBodies(room = ROOM_BYTES): HeldBodies {
  let taken = 0;
  return {
    begin() {
      let bytes = new KeptBytes();
      let own = 0;
      return {
        get isLarge() {
          return bytes.length > SMALL_BYTES;
        },
        add(chunk) {
          const beyond = Math.max(0, bytes.length + chunk.length - SMALL_BYTES);
          if (beyond > own && taken + beyond - own > room) {
            throw new InboxFull(RETRY_SECONDS, "Too many large webhooks arrive at once");
          }
          taken += beyond - own;
          own = beyond;
          bytes.add(chunk);
        },
        pieces: () => bytes.pieces(),
        drop() {
          taken -= own;
          own = 0;
          bytes = new KeptBytes();
        },
      };
    },
  };
}

const FIRST_BYTES = 1_024;
const BLOCK_BYTES = 262_144;

/** Copies of bytes: a chunk of one byte may hold the memory of a whole network read. */
export class KeptBytes {
  readonly #full: Buffer[] = [];
  #block = Buffer.alloc(0);
  #used = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Buffer): void {
    let from = 0;
    while (from < bytes.length) {
      if (this.#used === this.#block.length) this.#nextBlock();
      const copied = bytes.copy(this.#block, this.#used, from);
      this.#used += copied;
      from += copied;
    }
    this.#length += bytes.length;
  }

  /** Ordered pieces. */
  pieces(): readonly Buffer[] {
    return [...this.#full, this.#block.subarray(0, this.#used)];
  }

  /** Decodes the bytes as UTF-8. */
  text(): string {
    return Buffer.concat(this.pieces()).toString("utf8");
  }

  #nextBlock(): void {
    if (this.#used > 0) this.#full.push(this.#block);
    this.#block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, Math.max(FIRST_BYTES, this.#length)));
    this.#used = 0;
  }
}
