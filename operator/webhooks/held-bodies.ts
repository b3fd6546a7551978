import { InboxFull } from "../ports/facade/webhook-inbox.ts";
import { KeptBytes } from "./kept-bytes.ts";

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
