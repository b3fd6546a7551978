import { createHash } from "node:crypto";
import { isJsonObject } from "../../crds/json.ts";
import { KeptBytes } from "../kit/kept-bytes.ts";
import { InboxFull, WebhookTooLarge } from "../ports/api/webhook-inbox.ts";
import type { ArrivingWebhook } from "../ports/webhooks/webhook-format.ts";
import { NeededFields } from "./needed-fields.ts";

type Payload = Readonly<Record<string, unknown>>;

interface Checks {
  update(bytes: Buffer): void;
}

interface Reading<C> {
  readonly most: number;
  /** Holds bytes before checks exist. */
  readonly held: HeldBody;
  /** Checks for the senders that a large body's arrived fields, still unverified, name. */
  readonly checksFor: (payload: Payload) => Promise<C>;
}

interface ReadBody<C> {
  /** Fields that formats read; unverified until the sender is. */
  readonly payload: Payload;
  /** SHA-256 of the raw bytes, hexadecimal. */
  readonly digest: string;
  /** Checks that got all bytes; `undefined` while they are held. */
  readonly checks: C | undefined;
}

/** True when a body names its repository. */
export const namesRepository = (payload: Payload): boolean =>
  isJsonObject(payload.repository) || isJsonObject(payload.project);

/** Reads a body to its end in bounded memory. @throws WebhookMalformed, WebhookTooLarge, InboxFull */
export async function readBody<C extends Checks>(
  { chunks, headers }: Pick<ArrivingWebhook, "chunks" | "headers">,
  { most, held, checksFor }: Reading<C>,
): Promise<ReadBody<C>> {
  const digest = createHash("sha256");
  const fields = new NeededFields();
  let checks: C | undefined;
  let size = 0;
  if (Number(headers["content-length"] ?? 0) > most) throw tooLarge(most);
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > most) throw tooLarge(most);
    digest.update(chunk);
    fields.push(chunk);
    if (checks !== undefined) checks.update(chunk);
    else {
      held.add(chunk);
      checks = await checksOfLarge(fields, held, checksFor);
    }
  }
  return { payload: fields.end(), digest: digest.digest("hex"), checks };
}

/** Checks of a large body that has named its repository, fed with the held bytes. */
async function checksOfLarge<C extends Checks>(
  fields: NeededFields,
  held: HeldBody,
  checksFor: Reading<C>["checksFor"],
) {
  if (!held.isLarge || !namesRepository(fields.soFar)) return undefined;
  const checks = await checksFor(fields.soFar);
  for (const piece of held.pieces()) checks.update(piece);
  held.drop();
  return checks;
}

const tooLarge = (most: number) => new WebhookTooLarge(`The body may have ${most} bytes at most`);

/** A larger body is no longer held once it has named its repository. */
const LARGE_BYTES = 1_048_576;
/** Held bytes of each body beside the shared memory: most webhooks need no more. */
const OWN_BYTES = 65_536;
/** Shared memory for what all bodies together have beyond that. */
const ROOM_BYTES = 134_217_728;
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

/** Store of bodies, with shared memory for long ones: many senders at once, each slow, must not fill the process. */
export function heldBodies(room = ROOM_BYTES): HeldBodies {
  let taken = 0;
  return {
    begin() {
      let bytes = new KeptBytes();
      let own = 0;
      return {
        get isLarge() {
          return bytes.length > LARGE_BYTES;
        },
        add(chunk) {
          const beyond = Math.max(0, bytes.length + chunk.length - OWN_BYTES);
          if (beyond > own && taken + beyond - own > room) {
            throw new InboxFull(RETRY_SECONDS, "Too many long webhooks arrive at once");
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
