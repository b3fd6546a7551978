import { createHash } from "node:crypto";
import { isJsonObject } from "../../crds/json.ts";
import type { HeldBytes } from "../kit/body-memory.ts";
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
  readonly held: HeldBytes;
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
      hold(chunk, held);
      checks = await checksOfLarge(fields, held, checksFor);
    }
  }
  return { payload: fields.end(), digest: digest.digest("hex"), checks };
}

/** Checks of a large body that has named its repository, fed with the held bytes. */
async function checksOfLarge<C extends Checks>(
  fields: NeededFields,
  held: HeldBytes,
  checksFor: Reading<C>["checksFor"],
) {
  if (held.length <= LARGE_BYTES || !namesRepository(fields.soFar)) return undefined;
  const checks = await checksFor(fields.soFar);
  for (const piece of held.pieces()) checks.update(piece);
  held.drop();
  return checks;
}

const tooLarge = (most: number) => new WebhookTooLarge(`The body may have ${most} bytes at most`);

/** A larger body is no longer held once it has named its repository. */
const LARGE_BYTES = 1_048_576;
const RETRY_SECONDS = 10;

/** @throws InboxFull when the memory is used up */
function hold(chunk: Buffer, held: HeldBytes): void {
  if (!held.add(chunk)) throw new InboxFull(RETRY_SECONDS, "Too many long webhooks arrive at once");
}
