import { createHash } from "node:crypto";
import { WebhookTooLarge } from "../ports/facade/webhook-inbox.ts";
import type { ArrivingWebhook } from "../ports/webhooks/webhook-format.ts";
import type { HeldBody } from "./held-bodies.ts";
import { NeededFields } from "./needed-fields.ts";

type Payload = Readonly<Record<string, unknown>>;

/** What is given the bytes of a body as they arrive. */
interface Checks {
  update(bytes: Buffer): void;
}

/** How a body is read. */
interface Reading<C> {
  /** The most bytes that it may have. */
  readonly most: number;
  /** Holds the bytes that no checks were given. */
  readonly held: HeldBody;
  /**
   * The checks of the senders that the fields name, asked for when a large body has named one.
   *
   * @param payload the fields that have arrived; nothing of them is to be believed
   */
  readonly checksFor: (payload: Payload) => Promise<C>;
}

/** A body that has ended. */
interface ReadBody<C> {
  /** The fields that formats read; to be believed when its sender is verified. */
  readonly payload: Payload;
  /** SHA-256 of the raw bytes, in hexadecimal. */
  readonly digest: string;
  /** What was given all of its bytes; `undefined` where they are held. */
  readonly checks: C | undefined;
}

/** Whether a body says of which repository it is. */
export const namesRepository = (payload: Payload): boolean => isObject(payload.repository) || isObject(payload.project);

/** Whether it is an object of JSON. */
export const isObject = (value: unknown): value is Payload =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads a body to its end in bounded memory.
 *
 * @throws WebhookMalformed, WebhookTooLarge, InboxFull where too much would have to be held
 */
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
      checks = await begun(fields, held, checksFor);
    }
  }
  return { payload: fields.end(), digest: digest.digest("hex"), checks };
}

/** The checks of a large body that has named its repository, with all bytes that were held. */
async function begun<C extends Checks>(fields: NeededFields, held: HeldBody, checksFor: Reading<C>["checksFor"]) {
  if (!held.isLarge || !namesRepository(fields.soFar)) return undefined;
  const checks = await checksFor(fields.soFar);
  for (const piece of held.pieces()) checks.update(piece);
  held.drop();
  return checks;
}

const tooLarge = (most: number) => new WebhookTooLarge(`The body may have ${most} bytes at most`);
