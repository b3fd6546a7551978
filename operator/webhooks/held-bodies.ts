import { InboxFull } from "../ports/facade/webhook-inbox.ts";
import { KeptBytes } from "./kept-bytes.ts";

/** So much of each body may be held; a larger one names its repository before, or takes of the room. */
const SMALL_BYTES = 1_048_576;
/** The room for what is held beyond that, for all bodies of this process together. */
const ROOM_BYTES = 67_108_864;
const RETRY_SECONDS = 10;

/** The raw bytes of one body, until it is known whose key is to be tried on them. */
export interface HeldBody {
  /** Whether it is more than may be held of each. */
  readonly isLarge: boolean;
  /** @throws InboxFull when there is no room */
  add(bytes: Buffer): void;
  /** In pieces, in their order. */
  pieces(): readonly Buffer[];
  /** Gives the room back. */
  drop(): void;
}

/** The bodies that are held at the same time. */
export interface HeldBodies {
  begin(): HeldBody;
}

/** No bodies, with room for a few large ones. */
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
